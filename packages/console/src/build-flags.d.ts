/** Whether this build has the page `/ui`, which shows every component. */
declare var PORTHOLE_CONSOLE_UI: boolean | undefined;
