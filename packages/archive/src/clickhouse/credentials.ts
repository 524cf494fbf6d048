import { readFile } from 'node:fs/promises';
import { errorMessage } from '@porthole/contract';
import { ArchiveError } from '../archive-error.ts';

/** Longer files hold something else. */
const MAX_PASSWORD_BYTES = 4096;

/** A user and the file its password is in, which may be replaced at any time. */
export class Credentials {
  readonly #user: string | undefined;
  readonly #file: string | undefined;
  #password: string | undefined;

  constructor({ user, passwordFile }: { user?: string | undefined; passwordFile?: string | undefined }) {
    this.#user = user;
    this.#file = passwordFile;
  }

  /** Headers, not parameters: addresses end up in logs. */
  async headers(): Promise<Record<string, string>> {
    if (this.#user === undefined) return {};
    this.#password ??= await this.#read();
    return { 'X-ClickHouse-User': this.#user, 'X-ClickHouse-Key': this.#password };
  }

  /** Reads the file again; whether it has another password than the one that was refused. */
  async hasChanged(): Promise<boolean> {
    if (this.#file === undefined) return false;
    const before = this.#password;
    this.#password = await this.#read();
    return this.#password !== before;
  }

  async #read(): Promise<string> {
    if (this.#file === undefined) return '';
    try {
      const text = await readFile(this.#file, 'utf8');
      if (text.length <= MAX_PASSWORD_BYTES) return text.replace(/\r?\n$/, '');
    } catch (cause) {
      throw new ArchiveError('ARCHIVE_DENIED', `cannot read the password file ${this.#file}: ${errorMessage(cause)}`, {
        cause,
      });
    }
    throw new ArchiveError(
      'ARCHIVE_DENIED',
      `the password file ${this.#file} has more than ${MAX_PASSWORD_BYTES} bytes`,
    );
  }
}
