// A node of the contract in Go, to compare with: net/http, nothing kept between requests. As LinDB does, it opens the
// file and copies its last lines for every view, reads the directory for every list, and writes the configuration as
// TOML and then as JSON for every request for it.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const defaultViewBytes = 1 << 20

// The longest line that is copied; a longer one ends the response.
const maxLineBytes = 64 << 10

type node struct {
	HostIP     string `json:"hostIp"`
	HostName   string `json:"hostName"`
	Version    string `json:"version"`
	OnlineTime int64  `json:"onlineTime"`
	GrpcPort   int    `json:"grpcPort,omitempty"`
	HTTPPort   int    `json:"httpPort"`
}

type nodeConfig struct {
	Config string `json:"config"`
	Node   node   `json:"node"`
}

type logEntry struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// One line of the configuration: a comment, a table or a setting.
type configLine struct {
	text  string
	key   string
	value string
}

type handler struct {
	dir    string
	node   node
	config []configLine
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: go-handler LOG_DIR CONFIG_FILE")
	}
	config, err := readConfig(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	hostName, err := os.Hostname()
	if err != nil {
		log.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	h := handler{
		dir:    os.Args[1],
		config: config,
		node: node{
			HostIP: "127.0.0.1", HostName: hostName, Version: "bench",
			OnlineTime: time.Now().UnixMilli(), GrpcPort: port, HTTPPort: port,
		},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/config", h.getConfig)
	mux.HandleFunc("/api/v1/log/list", h.listLogs)
	mux.HandleFunc("/api/v1/log/view", h.viewLog)
	fmt.Printf("ready at http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, mux))
}

func (h *handler) getConfig(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	for _, line := range h.config {
		if line.key == "" {
			fmt.Fprintf(&text, "%s\n", line.text)
		} else {
			fmt.Fprintf(&text, "%s = %s\n", line.key, line.value)
		}
	}
	writeJSON(w, http.StatusOK, nodeConfig{Config: text.String(), Node: h.node})
}

func (h *handler) listLogs(w http.ResponseWriter, _ *http.Request) {
	found, err := os.ReadDir(h.dir) // sorted by name
	if err != nil {
		writeError(w, err)
		return
	}
	var entries []logEntry
	for _, each := range found {
		if each.IsDir() || filepath.Ext(each.Name()) != ".log" {
			continue
		}
		info, err := each.Info()
		if err != nil {
			writeError(w, err)
			return
		}
		entries = append(entries, logEntry{Name: each.Name(), Size: info.Size()})
	}
	writeJSON(w, http.StatusOK, entries)
}

func (h *handler) viewLog(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	name := query.Get("file")
	if name == "" || name != filepath.Base(name) {
		writeError(w, errors.New("invalid file name"))
		return
	}
	size := int64(defaultViewBytes)
	if text := query.Get("size"); text != "" {
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil || parsed < 1 {
			writeError(w, errors.New("invalid size"))
			return
		}
		size = parsed
	}
	if err := copyTail(w, filepath.Join(h.dir, name), size); err != nil {
		writeError(w, err)
	}
}

// Copies the whole lines among the last bytes of a file.
func copyTail(w http.ResponseWriter, path string, size int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	from := info.Size() - size
	if from > 0 {
		// With the byte before the window: if that ends a line, the window begins with a whole one.
		if _, err := file.Seek(from-1, io.SeekStart); err != nil {
			return err
		}
	}
	lines := bufio.NewScanner(io.LimitReader(file, size+1))
	lines.Buffer(nil, maxLineBytes)
	if from > 0 {
		lines.Scan()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for lines.Scan() {
		if _, err := w.Write(lines.Bytes()); err != nil {
			return nil
		}
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return nil
		}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, value interface{}) {
	body, err := json.Marshal(value)
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(body)
}

func writeError(w http.ResponseWriter, err error) {
	http.Error(w, strconv.Quote(err.Error()), http.StatusInternalServerError)
}

func readConfig(path string) ([]configLine, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []configLine
	for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		key, value, isSetting := strings.Cut(line, " = ")
		if !isSetting || strings.HasPrefix(line, "#") {
			key, value = "", ""
		}
		lines = append(lines, configLine{text: line, key: key, value: value})
	}
	return lines, nil
}
