import type { Completion } from '../command-definition.ts';
import type { CompletedCommand, CompletedFlag } from './completed-command.ts';
import { quoteShell } from './quote-shell.ts';

/** The script for zsh: one function per command, each with the specifications of `_arguments`. */
export function zshScript(program: string, commands: readonly CompletedCommand[]): string {
  return `#compdef ${program}
# zsh completion of ${program}, made by "${program} completion zsh"

${commands.map((command) => commandFunction(program, command)).join('\n')}
# Loaded from fpath, this file is the function itself; sourced, it tells zsh of it.
if [[ $funcstack[1] == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

function commandFunction(program: string, command: CompletedCommand): string {
  const { path, commands, flags, args, hasManyArgs } = command;
  const name = functionName(program, path);
  const specs = flags.flatMap(flagSpecs);
  if (commands.length === 0) {
    specs.push(
      ...args.map((completion, index) => argumentSpec(completion, index, hasManyArgs && index === args.length - 1)),
    );
    return `${name}() {\n  _arguments -s -S ${specs.join(' ')}\n}\n`;
  }
  const described = commands.map((below) => quoteShell(`${escapeColons(below.name)}:${oneLine(below.about)}`));
  const branches = commands.map(
    (below) => `        ${below.name}) ${functionName(program, `${path} ${below.name}`.trim())} ;;`,
  );
  const own = args.length === 0 ? '' : `      ${action(args[0]) || '_files'}\n`;
  return `${name}() {
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -s -S -C ${specs.join(' ')} '1: :->first' '*:: :->rest'
  case $state in
    first)
      local -a commands=(${described.join(' ')})
      _describe command commands
${own}      ;;
    rest)
      case $line[1] in
${branches.join('\n')}
${args.length === 0 ? '' : `        *) ${action(args.at(-1)) || '_files'} ;;\n`}      esac
      ;;
  esac
}
`;
}

function functionName(program: string, path: string): string {
  return `_${[program, ...path.split(' ').filter(Boolean)].join('_')}`;
}

/** The same for both names of a flag; naming both in one specification would hide that `-x` was given. */
function flagSpecs({ long, short, about, value, complete }: CompletedFlag): string[] {
  const names = short === undefined ? [`--${long}`] : [`-${short}`, `--${long}`];
  return names.map((name) => {
    const joint = value === 'none' ? '' : name.startsWith('--') ? '=' : '+';
    // "=-" and "-" want the value in the same word, as commander does not for a value that may be left out.
    const gap = value === 'optional' ? '::' : ':';
    const behind = value === 'none' ? '' : `${gap}value:${action(complete)}`;
    return quoteShell(`*${name}${joint}[${escapeBrackets(oneLine(about))}]${behind}`);
  });
}

function argumentSpec(completion: Completion | undefined, index: number, isRest: boolean): string {
  return quoteShell(`${isRest ? '*' : index + 1}: :${action(completion)}`);
}

function action(completion: Completion | undefined): string {
  if (completion === 'file') return '_files';
  if (completion === 'directory') return '_files -/';
  return completion === undefined ? '' : `(${completion.map((word) => word.replace(/[ ()\\]/g, '\\$&')).join(' ')})`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function escapeBrackets(text: string): string {
  return text.replace(/[\]\\[:]/g, '\\$&');
}

function escapeColons(text: string): string {
  return text.replaceAll(':', '\\:');
}
