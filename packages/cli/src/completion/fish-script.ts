import type { Completion } from '../command-definition.ts';
import type { CompletedCommand, CompletedFlag } from './completed-command.ts';
import { quoteFish } from './quote-shell.ts';

/** The script for fish, from version 3 on. */
export function fishScript(program: string, commands: readonly CompletedCommand[]): string {
  return `# fish completion of ${program}, made by "${program} completion fish"

# The commands on the line, without flags, their values and arguments: "logs search".
function __${program}_path
    set -l path
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip -eq 1
            set skip 0
        else if string match -q -- '-*' $word
            if contains -- "$path $word" ${valueFlags(commands).join(' ')}
                set skip 1
            end
        else if contains -- (string join ' ' -- $path $word) ${commandPaths(commands).join(' ')}
            set -a path $word
        end
    end
    string join ' ' -- $path
end

function __${program}_at
    test "$argv[1]" = (__${program}_path | string collect --allow-empty)
end

complete -c ${program} -f
${commands.flatMap((command) => commandRows(program, command)).join('\n')}
`;
}

function valueFlags(commands: readonly CompletedCommand[]): string[] {
  return commands.flatMap(({ path, flags }) =>
    flags
      .filter(({ value }) => value === 'needed')
      .flatMap(({ long, short }) => [`--${long}`, ...(short === undefined ? [] : [`-${short}`])])
      .map((name) => quoteFish(`${path} ${name}`)),
  );
}

function commandPaths(commands: readonly CompletedCommand[]): string[] {
  return commands.filter(({ path }) => path !== '').map(({ path }) => quoteFish(path));
}

function commandRows(program: string, { path, commands, flags, args }: CompletedCommand): string[] {
  const here = `complete -c ${program} -n ${quoteFish(`__${program}_at ${quoteFish(path)}`)}`;
  return [
    ...commands.map(({ name, about }) => `${here} -a ${quoteFish(name)} -d ${describe(about)}`),
    ...flags.map((flag) => `${here} ${flagRow(flag)}`),
    ...args.flatMap((completion) => (completion === undefined ? [] : [`${here} ${values(completion)}`])),
  ];
}

function flagRow({ long, short, about, value, complete }: CompletedFlag): string {
  const names = short === undefined ? `-l ${long}` : `-s ${short} -l ${long}`;
  const described = `${names} -d ${describe(about)}`;
  if (value === 'none' || (value === 'optional' && complete === undefined)) return described;
  // "-x": a value must follow, and it is no file unless said so.
  return complete === 'file' ? `${described} -r -F` : `${described} -x${complete ? ` ${values(complete)}` : ''}`;
}

function values(completion: Completion): string {
  if (completion === 'file') return '-F';
  if (completion === 'directory') return "-a '(__fish_complete_directories)'";
  return `-a ${quoteFish(completion.join(' '))}`;
}

function describe(about: string): string {
  return quoteFish(about.replaceAll(/\s+/g, ' '));
}
