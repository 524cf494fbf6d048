// The node state interface in Go, with the standard library alone: a node that "porthole conform" accepts.
//
//	go run main.go -listen 127.0.0.1:9000 -log-dir /var/log/mydb -config /etc/mydb.toml
//	porthole conform http://127.0.0.1:9000 --log-dir /var/log/mydb
//
// The configuration is served as it is: a real node has to mask its secrets first.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
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

type node struct {
	HostIP     string `json:"hostIp"`
	HostName   string `json:"hostName"`
	GrpcPort   int    `json:"grpcPort"`
	HTTPPort   int    `json:"httpPort"`
	Version    string `json:"version"`
	OnlineTime int64  `json:"onlineTime"` // milliseconds since 1970
}

type logEntry struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

type handler struct {
	logDir, configFile string
	node               node
}

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address to listen on")
	logDir := flag.String("log-dir", ".", "directory with the log files")
	configFile := flag.String("config", "config.toml", "configuration of the node")
	flag.Parse()
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	hostName, err := os.Hostname()
	if err != nil {
		log.Fatal(err)
	}
	h := handler{*logDir, *configFile, node{
		HostIP: address.IP.String(), HostName: hostName, HTTPPort: address.Port,
		Version: "1.0.0", OnlineTime: time.Now().UnixMilli(),
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/v1/config", getOnly(h.config))
	mux.HandleFunc("/api/v1/log/list", getOnly(h.list))
	mux.HandleFunc("/api/v1/log/view", getOnly(h.view))
	fmt.Printf("listening on http://%s\n", address)
	log.Fatal(http.Serve(listener, mux))
}

func getOnly(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, http.StatusMethodNotAllowed, "only GET and HEAD")
			return
		}
		handle(w, r)
	}
}

func (h *handler) config(w http.ResponseWriter, _ *http.Request) {
	text, err := os.ReadFile(h.configFile)
	if err != nil {
		writeError(w, http.StatusInternalServerError, "the configuration cannot be read")
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"config": string(text), "node": h.node})
}

// Regular files only; what is removed while the directory is read is left out.
func (h *handler) list(w http.ResponseWriter, _ *http.Request) {
	found, err := os.ReadDir(h.logDir) // in the order of names
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		writeError(w, http.StatusInternalServerError, "the log directory cannot be read")
		return
	}
	entries := []logEntry{} // "[]" if there are none, not "null"
	for _, each := range found {
		if info, err := each.Info(); err == nil && info.Mode().IsRegular() {
			entries = append(entries, logEntry{each.Name(), info.Size()})
		}
	}
	writeJSON(w, http.StatusOK, entries)
}

func (h *handler) view(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("file")
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		writeError(w, http.StatusBadRequest, "file must be a name as it is listed")
		return
	}
	size := int64(defaultViewBytes)
	if text := r.URL.Query().Get("size"); text != "" {
		parsed, err := strconv.ParseInt(text, 10, 64)
		if err != nil || parsed < 1 {
			writeError(w, http.StatusBadRequest, "size must be a positive number of bytes")
			return
		}
		size = parsed
	}
	path := filepath.Join(h.logDir, name)
	info, err := os.Lstat(path) // never opens a link, a device or a FIFO
	if err != nil || !info.Mode().IsRegular() {
		writeError(w, http.StatusNotFound, "no such log file")
		return
	}
	file, err := os.Open(path)
	if err != nil {
		writeError(w, http.StatusNotFound, "no such log file")
		return
	}
	defer file.Close()
	sendTail(w, file, size)
}

// Sends the whole lines among the last bytes of a file. The size at this moment is the end, whatever is appended.
func sendTail(w http.ResponseWriter, file *os.File, size int64) {
	info, err := file.Stat()
	if err != nil {
		writeError(w, http.StatusInternalServerError, "the log file cannot be read")
		return
	}
	end := info.Size()
	start := int64(0)
	if end > size {
		start = firstLine(file, end-size, end)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Length", strconv.FormatInt(end-start, 10))
	// net/http cuts the connection if less than announced is written: of a truncated file the client sees an error.
	if _, err := io.Copy(w, io.NewSectionReader(file, start, end-start)); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// Where the first whole line of a window starts. Without one, the window itself: something is better than nothing.
func firstLine(file io.ReaderAt, from, end int64) int64 {
	buffer := make([]byte, 64<<10)
	// From the byte before the window: if that ends a line, the window begins with a whole one.
	for at := from - 1; at < end-1; {
		count, err := file.ReadAt(buffer[:min(int64(len(buffer)), end-1-at)], at)
		for index, each := range buffer[:count] {
			if each == '\n' {
				return at + int64(index) + 1
			}
		}
		if err != nil {
			break
		}
		at += int64(count)
	}
	return from
}

func min(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func writeError(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, map[string]any{"title": http.StatusText(status), "status": status, "detail": detail})
}
