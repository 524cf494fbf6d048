export interface Metric {
  name: string;
  type: 'counter' | 'gauge' | 'histogram' | 'summary';
  help: string;
  samples: readonly Sample[];
}

export interface Sample {
  /** Appended to the metric's name, like `_count` for a histogram. */
  suffix?: string;
  labels?: Readonly<Record<string, string | number>>;
  value: number;
}

/** Metrics in the Prometheus text format. Help texts are our own and need no escaping; names of logs may be anything. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics.map(renderMetric).join('');
}

function renderMetric({ name, type, help, samples }: Metric): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${renderLabels(labels)} ${value}\n`,
  );
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function renderLabels(labels: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string | number): string {
  return typeof value === 'number' ? String(value) : value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
}

/** Upper bounds of the buckets in seconds; the last bucket (+Inf) is implied. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** A histogram of durations. */
export class Durations {
  #seconds = 0;
  /** Each duration is counted in the first bucket it fits. */
  readonly #buckets = Array.from({ length: BUCKETS.length + 1 }, () => 0);

  count(seconds: number): void {
    this.#seconds += seconds;
    const index = BUCKETS.findIndex((end) => seconds <= end);
    const bucket = index < 0 ? BUCKETS.length : index;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  samples(labels: Readonly<Record<string, string>>): Sample[] {
    let count = 0;
    const buckets = this.#buckets.map((inBucket, index): Sample => {
      count += inBucket;
      return { suffix: '_bucket', labels: { le: BUCKETS[index] ?? '+Inf', ...labels }, value: count };
    });
    return [...buckets, { suffix: '_sum', labels, value: this.#seconds }, { suffix: '_count', labels, value: count }];
  }
}
