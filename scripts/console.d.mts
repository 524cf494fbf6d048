export declare const CONSOLE: string;
/** Builds the page if anything has changed since the last time; with the page `/ui` always, into any folder. */
export declare function buildConsole(options?: { hasUiPage?: boolean; folder?: string }): Promise<void>;
