import { configDiffCommand } from '../../../config/config-command.ts';
import { navigation } from '../../../state/navigation.ts';
import { copyText } from '../../../state/notice.ts';
import type { ConfigView } from '../../../state/view.ts';
import { FindBox } from '../find-box.tsx';

/** What can be done with the matrix as a whole. */
export function DriftTools({ view }: { view: ConfigView }) {
  const command = configDiffCommand(view, { origin: location.origin });
  return (
    <div class="config-tools">
      <FindBox
        label="Find key"
        text={view.text}
        onText={(text) => navigation.go({ ...view, text }, { replace: true })}
      />
      <button type="button" class="button" title={command} onClick={() => void copyText(command, 'Command')}>
        Copy as CLI
      </button>
    </div>
  );
}
