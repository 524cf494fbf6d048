import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How often is looked whether the process works. */
const CHECK_MS = 5000;

/** The process works if it takes more of a processor than this. */
const WORKING_SHARE = 0.05;

/** After so many looks without work it rests; by then buffers and threads that were kept for the next request are given up. */
const QUIET_CHECKS = 2;

interface GiveMemoryBackOptions {
  /** Processor time of the process so far. */
  cpuMs?(): number;
  nowMs?(): number;
  collect?(): void;
}

/**
 * Collects garbage once whenever the process rests after work; returns a function that stops that. The engine collects when
 * it needs memory, which a node that nobody asks never does: measured after searches, it kept 20 MB of garbage. It takes
 * 15 to 80 ms, so it is only for a process that is that of the node alone.
 */
export function giveMemoryBack({
  cpuMs = processorMs,
  nowMs = () => performance.now(),
  collect = createCollector(),
}: GiveMemoryBackOptions = {}): () => void {
  let before = { cpuMs: cpuMs(), nowMs: nowMs() };
  let hasWorked = true;
  let quietChecks = 0;
  const check = () => {
    const now = { cpuMs: cpuMs(), nowMs: nowMs() };
    const isWorking = now.cpuMs - before.cpuMs > WORKING_SHARE * (now.nowMs - before.nowMs);
    before = now;
    quietChecks = isWorking ? 0 : quietChecks + 1;
    hasWorked ||= isWorking;
    if (!hasWorked || quietChecks < QUIET_CHECKS) return;
    hasWorked = false;
    collect();
    // Collecting is no work that leaves anything behind.
    before = { cpuMs: cpuMs(), nowMs: nowMs() };
  };
  const timer = setInterval(check, CHECK_MS).unref();
  return () => clearInterval(timer);
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Node.js has the function only behind a flag; a context that is made while that is set has it, too. */
export function createCollector(): () => void {
  let collect: (() => void) | undefined;
  return () => {
    if (!collect) {
      setFlagsFromString('--expose-gc');
      collect = runInNewContext('gc') as () => void;
      setFlagsFromString('--no-expose-gc');
    }
    collect();
  };
}
