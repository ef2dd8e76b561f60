import type { WriteState } from '../../../data/use-write.ts';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { Section } from '../../../parts/section.tsx';
import { isGuarded } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';

/** Fields of the request that show their own reasons here. */
export const CONDITION_FIELDS = [
  'undo_unless_reachable_seconds',
  'timeout_seconds',
  'deliver_within_minutes',
  'notify_url',
  'canary_count',
  'rate_per_minute',
  'most_at_once',
  'abort_after_failures',
  'abort_at_percent',
] as const;

interface PartProps {
  draft: ScriptDraft;
  change: (part: Partial<ScriptDraft>) => void;
  state: WriteState;
}

const NUMBER_INPUT = { inputMode: 'numeric', autoComplete: 'off' } as const;

/** When a job runs, what comes before it, and how it is undone. */
export function Conditions({ draft, change, state, touches }: PartProps & { touches: readonly string[] }) {
  const isOn = isGuarded(draft, touches.length > 0);
  return (
    <Section title="Conditions">
      <div className="conditions">
        <CheckField
          label="Undo guard: the router restores itself unless it stays reachable"
          isChecked={isOn}
          onChange={(isChecked) => change({ guard: isChecked ? 'on' : 'off' })}
        />
        {isOn ? (
          <TextField
            label="Undo after, seconds"
            name="undo_unless_reachable_seconds"
            hint="30 to 3,600. The agent takes the guard away as soon as it has reached the router anew"
            state={state}
            value={draft.guardSeconds}
            onChange={(guardSeconds) => change({ guardSeconds })}
            input={NUMBER_INPUT}
          />
        ) : null}
        <CheckField label="Take a backup first" isChecked={draft.backup} onChange={(backup) => change({ backup })} />
        <details>
          <summary className="hand">More conditions</summary>
          <CheckField
            label="Begin at once, before other jobs of the router"
            isChecked={draft.atOnce}
            onChange={(atOnce) => change({ atOnce })}
          />
          <CheckField
            label="Wait for the end of the script (not for a reboot)"
            isChecked={draft.awaitEnd}
            onChange={(awaitEnd) => change({ awaitEnd })}
          />
          <TextField
            label="Longest run, seconds"
            name="timeout_seconds"
            hint="300 unless you say otherwise"
            state={state}
            value={draft.timeoutSeconds}
            onChange={(timeoutSeconds) => change({ timeoutSeconds })}
            input={NUMBER_INPUT}
          />
          <TextField
            label="May wait for its router, minutes"
            name="deliver_within_minutes"
            hint="Then it expires and never runs. 7 days for a job, an hour in a campaign"
            state={state}
            value={draft.deliverMinutes}
            onChange={(deliverMinutes) => change({ deliverMinutes })}
            input={NUMBER_INPUT}
          />
          <TextField
            label="Webhook for its updates"
            name="notify_url"
            hint="An https address, or nothing"
            state={state}
            value={draft.notifyUrl}
            onChange={(notifyUrl) => change({ notifyUrl })}
            input={{ inputMode: 'url', autoComplete: 'off' }}
          />
        </details>
      </div>
    </Section>
  );
}

type NumberKey = 'canaries' | 'ratePerMinute' | 'mostAtOnce' | 'stopAtFailures' | 'stopAtPercent';

/** Who goes first, how fast the others follow, and when it stops by itself. */
export function CampaignRules({ draft, change, state }: PartProps) {
  const fields: readonly [NumberKey, string, string, string][] = [
    ['canaries', 'canary_count', 'Canaries', 'go first; the others wait until all of them have completed'],
    ['ratePerMinute', 'rate_per_minute', 'Begin in a minute', 'at most; empty for no limit'],
    ['mostAtOnce', 'most_at_once', 'At the same time', 'at most, those that wait for their router included'],
    ['stopAtFailures', 'abort_after_failures', 'Stop at failures', 'this number of them; empty for no limit'],
    ['stopAtPercent', 'abort_at_percent', 'Stop at percent', 'failures among the results, from the fifth on; empty for no limit'],
  ];
  return (
    <Section title="Canaries, rate, stop rule">
      <div className="conditions pairs">
        {fields.map(([key, name, label, hint]) => (
          <TextField
            key={key}
            label={label}
            name={name}
            hint={hint}
            state={state}
            value={draft[key]}
            onChange={(value) => change({ [key]: value })}
            input={NUMBER_INPUT}
          />
        ))}
      </div>
    </Section>
  );
}
