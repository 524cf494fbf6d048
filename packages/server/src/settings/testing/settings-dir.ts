import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedSettings, loadSettings, type SettingsSources } from '../load-settings.ts';
import { SettingsError, type SettingsProblem } from '../settings-error.ts';

/** A directory of its own for one test file; it is the working directory of every load. */
export class SettingsDir {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(): Promise<SettingsDir> {
    return new SettingsDir(await mkdtemp(join(tmpdir(), 'porthole-settings-')));
  }

  /** Writes `porthole.toml`. */
  async write(content: string | Uint8Array): Promise<void> {
    await writeFile(join(this.path, 'porthole.toml'), content);
  }

  load(sources: SettingsSources = {}): Promise<LoadedSettings> {
    return loadSettings({ workDir: this.path, ...sources });
  }

  async loadText(content: string | Uint8Array, sources: SettingsSources = {}): Promise<LoadedSettings> {
    await this.write(content);
    return this.load({ file: 'porthole.toml', ...sources });
  }

  /** The problems of settings that must be refused. */
  async problems(sources: SettingsSources): Promise<readonly SettingsProblem[]> {
    try {
      await this.load(sources);
    } catch (thrown) {
      if (thrown instanceof SettingsError) return thrown.problems;
      throw thrown;
    }
    throw new Error('the settings were accepted');
  }

  /** The messages about a file that must be refused. */
  async messages(content: string | Uint8Array, sources: SettingsSources = {}): Promise<string[]> {
    await this.write(content);
    const problems = await this.problems({ file: 'porthole.toml', ...sources });
    return problems.map(({ message }) => message);
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
