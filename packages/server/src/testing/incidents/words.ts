/** Makes the values that vary in log lines. */
export class Words {
  readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  int(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** Some are far more frequent than others, as users are. */
  pickUnevenly<Item>(items: readonly Item[]): Item {
    return this.pick(items.slice(0, 1 + Math.floor(items.length * this.random() * this.random())));
  }

  /** Around a mean, with a long tail, as latencies are. */
  latency(meanMs: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
    return Math.max(0.1, meanMs * Math.exp(0.7 * normal - 0.25));
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => Math.floor(this.random() * 16).toString(16)).join('');
  }

  /** Time to the next of events that are independent of each other. */
  gap(meanMs: number): number {
    return -Math.log(1 - this.random()) * meanMs;
  }
}

const TENANTS = ['acme', 'globex', 'initech', 'umbrella', 'hooli', 'stark', 'wayne', 'wonka', 'tyrell', 'cyberdyne'];

/** Replaces `{name}` and `{name:argument:argument}`; values that are known take the place of random ones. */
export function fill(text: string, words: Words, known: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(/\{(\w+)((?::[^:{}]+)*)\}/g, (_whole, name: string, rest: string) => {
    const given = known[name];
    const [first = '', second = ''] = rest.split(':').slice(1);
    if (given !== undefined) return given;
    switch (name) {
      case 'int':
        return String(words.int(Number(first), Number(second)));
      case 'ms': {
        const ms = words.latency(Number(first) * Number(known.slow ?? 1));
        return ms >= 10_000 ? `${(ms / 1000).toFixed(1)}s` : `${ms.toFixed(ms < 100 ? 1 : 0)}ms`;
      }
      case 'hex':
        return words.hex(Number(first));
      case 'req':
        return words.hex(12);
      case 'shard':
        return String(words.int(0, 23));
      case 'tenant':
        return words.pickUnevenly(TENANTS);
      case 'ip':
        return `10.${words.int(0, 3)}.${words.int(0, 40)}.${words.int(2, 250)}`;
      case 'pick':
        return words.pick(first.split(','));
      default:
        throw new Error(`no value for {${name}} in ${JSON.stringify(text)}`);
    }
  });
}
