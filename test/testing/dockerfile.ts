import { readDeployed } from './deployed-settings.ts';

interface Instruction {
  name: string;
  text: string;
}

/** The stages of `deploy/docker/Dockerfile`, each a list of instructions: what builds, what installs, and the image. */
export const STAGES = readDeployed('docker/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split(/^(?=FROM )/m)
  .filter((stage) => stage.startsWith('FROM'))
  .map((stage) =>
    stage
      .trim()
      .split(/\n+/)
      .map(
        (line): Instruction => ({ name: line.slice(0, line.indexOf(' ')), text: line.slice(line.indexOf(' ') + 1) }),
      ),
  );

const [, , image = []] = STAGES;

export function instructionTexts(stage: readonly Instruction[] | undefined, name: string): string[] {
  return (stage ?? []).filter((one) => one.name === name).map(({ text }) => text);
}

/** The arguments of an instruction of the image that is written as a list. */
export function instructionArgs(name: string): string[] {
  return JSON.parse((instructionTexts(image, name)[0] ?? '').replace(/^.*?(?=\[)/, '')) as string[];
}

export const IMAGE_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  (instructionTexts(image, 'ENV')[0] ?? '').split(' ').map((pair) => pair.split('=')),
);
