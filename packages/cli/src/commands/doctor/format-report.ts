import type { CheckResult, DoctorReport } from '@porthole/server/doctor';
import type { Colors } from '../../output/terminal.ts';
import { visibleText } from '../../output/visible-text.ts';

type State = CheckResult['state'];

/** Words, not just colours: not everyone sees those. */
const SIGN_WIDTH = 'warning'.length;

/** One line per finding, its remedy indented below, a summary last. */
export function formatReport({ findings, skipped }: DoctorReport, colors: Colors): string {
  const paint: Record<State, (text: string) => string> = {
    ok: colors.green,
    warning: colors.yellow,
    problem: colors.red,
  };
  const lines = findings.flatMap(({ name, state, detail, remedy }) => {
    const line = `${paint[state](state.padEnd(SIGN_WIDTH))}  ${colors.bold(name)}: ${visibleText(detail)}`;
    return remedy === undefined ? [line] : [line, `${' '.repeat(SIGN_WIDTH)}    fix: ${visibleText(remedy)}`];
  });
  const notChecked = skipped.length === 0 ? [] : [`skipped until the settings are valid: ${skipped.join(', ')}`];
  return `${[...lines, '', ...notChecked, summary(findings)].join('\n')}\n`;
}

function summary(findings: readonly CheckResult[]): string {
  const number = (wanted: State) => findings.filter(({ state }) => state === wanted).length;
  const [problems, warnings, fine] = [number('problem'), number('warning'), number('ok')];
  const count = (found: number, noun: string) => `${found} ${noun}${found === 1 ? '' : 's'}`;
  return `${count(problems, 'problem')}, ${count(warnings, 'warning')}, ${fine} ok`;
}
