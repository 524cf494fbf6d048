export interface LogActionsProps {
  onCopyCli: () => void;
  onCopyLink: () => void;
  onDownload: () => void;
  plainUrl: string;
}

/** What can be done with the whole view. */
export function LogActions({ onCopyCli, onCopyLink, onDownload, plainUrl }: LogActionsProps) {
  return (
    <div class="log-actions">
      <button type="button" class="button" title="A command that shows the same in a terminal" onClick={onCopyCli}>
        Copy as CLI
      </button>
      <button type="button" class="button" title="A link to what is seen now" onClick={onCopyLink}>
        Copy link
      </button>
      <button
        type="button"
        class="button"
        title="Every record of this view, as text, of any size; a single file as it is. The last line says whether it is complete"
        onClick={onDownload}
      >
        Download
      </button>
      <a
        class="button"
        href={plainUrl}
        title="The records as plain text, for the browser's own search and for screen readers"
      >
        Text
      </a>
    </div>
  );
}
