import type { Completion } from '../command-definition.ts';
import type { CompletedCommand, CompletedFlag } from './completed-command.ts';
import { quoteShell } from './quote-shell.ts';

/** The script for bash, from version 3.2 (macOS) on, without the package bash-completion. */
export function bashScript(program: string, commands: readonly CompletedCommand[]): string {
  return `# bash completion of ${program}, made by "${program} completion bash"

_${program}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} path='' args=0 flag='' word i
  COMPREPLY=()
  # Bash takes "--flag=value" for three words.
  if [[ $cur == '=' ]]; then cur=''; elif [[ $before == '=' ]]; then before=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $flag ]]; then
      flag=''
    elif [[ $word == -* ]]; then
      _${program}_takes_value "$path" "$word" && flag=$word
    elif _${program}_is_command "$path" "$word"; then
      path="\${path:+$path }$word"
    else
      args=$((args + 1))
    fi
  done
  if [[ $before == -* ]] && _${program}_value "$path" "$before"; then return; fi
  if [[ $cur == -* ]]; then _${program}_words "$(_${program}_flags "$path")"; return; fi
  _${program}_argument "$path" "$args"
}

_${program}_words() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}

_${program}_paths() {
  local word
  compopt -o filenames 2> /dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$1" -- "$cur")
}

_${program}_is_command() {
  case "$1/$2" in
${commands.flatMap(({ path, commands: below }) => below.map(({ name }) => `    ${quoteShell(`${path}/${name}`)}) return 0 ;;`)).join('\n')}
  esac
  return 1
}

_${program}_takes_value() {
  case "$1/$2" in
${commands.map(takesValue).filter(Boolean).join('\n')}
  esac
  return 1
}

_${program}_flags() {
  case "$1" in
${commands.map(({ path, flags }) => `    ${quoteShell(path)}) echo ${quoteShell(flags.flatMap(flagNames).join(' '))} ;;`).join('\n')}
  esac
}

# Completes the value of a flag; fails where a flag has none.
_${program}_value() {
  case "$1/$2" in
${commands.flatMap(({ path, flags }) => flags.filter(({ value }) => value !== 'none').map((flag) => flagValue(program, path, flag))).join('\n')}
    *) return 1 ;;
  esac
}

_${program}_argument() {
  case "$1/$2" in
${commands.flatMap((command) => argumentCases(program, command)).join('\n')}
  esac
}

complete -F _${program} ${program}
`;
}

function flagNames({ long, short }: CompletedFlag): string[] {
  return short === undefined ? [`--${long}`] : [`-${short}`, `--${long}`];
}

function takesValue({ path, flags }: CompletedCommand): string {
  const names = flags.filter(({ value }) => value === 'needed').flatMap(flagNames);
  return names.length === 0 ? '' : `    ${names.map((name) => quoteShell(`${path}/${name}`)).join('|')}) return 0 ;;`;
}

/** A value that may be left out can be followed by a flag or an argument: then it is not the value that is completed. */
function flagValue(program: string, path: string, flag: CompletedFlag): string {
  const pattern = flagNames(flag)
    .map((name) => quoteShell(`${path}/${name}`))
    .join('|');
  const guard = flag.value === 'optional' ? '[[ $cur == -* ]] && return 1; ' : '';
  return `    ${pattern}) ${guard}${complete(program, flag.complete)} ;;`;
}

function argumentCases(program: string, { path, commands, args, hasManyArgs }: CompletedCommand): string[] {
  const names = commands.map(({ name }) => name);
  const rows = args.map((completion, index) => {
    const isRest = hasManyArgs && index === args.length - 1;
    const pattern = isRest ? `${quoteShell(`${path}/`)}*` : quoteShell(`${path}/${index}`);
    const first = index === 0 && names.length > 0 ? `${words(program, names)}; ` : '';
    return `    ${pattern}) ${first}${complete(program, completion)} ;;`;
  });
  return rows.length > 0 || names.length === 0 ? rows : [`    ${quoteShell(`${path}/0`)}) ${words(program, names)} ;;`];
}

function complete(program: string, completion: Completion | undefined): string {
  if (completion === 'file') return `_${program}_paths -f`;
  if (completion === 'directory') return `_${program}_paths -d`;
  return completion === undefined ? 'return 0' : words(program, completion);
}

function words(program: string, choices: readonly string[]): string {
  return `_${program}_words ${quoteShell(choices.join(' '))}`;
}
