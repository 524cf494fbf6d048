import { type CheckResult, type DoctorReport, runDoctor } from '@porthole/server/doctor';
import { EXIT } from '../exit.ts';
import type { Invocation } from '../invocation.ts';
import { formatCount } from '../output/format-units.ts';
import type { Colors } from '../output/terminal.ts';
import { visibleText } from '../output/visible-text.ts';
import { settingsFromFlags } from './serve/setting-flags.ts';

export async function run(invocation: Invocation): Promise<number> {
  const { terminal, given, env } = invocation;
  const report = await runDoctor({ file: invocation.text('config'), flags: settingsFromFlags(given), env });
  const isHealthy = report.findings.every(({ state }) => state !== 'problem');
  const isJson = invocation.text('output') === 'json';
  await terminal.write(
    isJson ? `${JSON.stringify({ healthy: isHealthy, ...report }, null, 2)}\n` : formatReport(report, terminal.colors),
  );
  return isHealthy ? EXIT.ok : EXIT.different;
}

type State = CheckResult['state'];

/** Words, not just colours: not everyone sees those. */
const SIGN_WIDTH = 'warning'.length;

/** One line per finding, its remedy indented below, a summary last. */
function formatReport({ findings, skipped }: DoctorReport, colors: Colors): string {
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
  return `${formatCount(problems, 'problem')}, ${formatCount(warnings, 'warning')}, ${fine} ok`;
}
