import type { WriteState } from '../../../data/use-write.ts';
import { CheckField, TextField } from '../../../parts/form.tsx';
import { Section } from '../../../parts/section.tsx';
import { isGuarded } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';
import { words } from './words.ts';

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
export function Conditions({ draft, change, state, isGuardWanted }: PartProps & { isGuardWanted: boolean }) {
  const isOn = isGuarded(draft, isGuardWanted);
  return (
    <Section title={words.conditions.title}>
      <div className="conditions">
        <CheckField label={words.conditions.guard} isChecked={isOn} onChange={(isChecked) => change({ guard: isChecked ? 'on' : 'off' })} />
        {isOn ? (
          <TextField
            label={words.conditions.undoAfter}
            name="undo_unless_reachable_seconds"
            hint={words.conditions.undoAfterHint}
            state={state}
            value={draft.guardSeconds}
            onChange={(guardSeconds) => change({ guardSeconds })}
            input={NUMBER_INPUT}
          />
        ) : null}
        <CheckField label={words.conditions.backup} isChecked={draft.backup} onChange={(backup) => change({ backup })} />
        <details>
          <summary className="hand">{words.conditions.more}</summary>
          <CheckField label={words.conditions.atOnce} isChecked={draft.atOnce} onChange={(atOnce) => change({ atOnce })} />
          <CheckField label={words.conditions.awaitEnd} isChecked={draft.awaitEnd} onChange={(awaitEnd) => change({ awaitEnd })} />
          <TextField
            label={words.conditions.longestRun}
            name="timeout_seconds"
            hint={words.conditions.longestRunHint}
            state={state}
            value={draft.timeoutSeconds}
            onChange={(timeoutSeconds) => change({ timeoutSeconds })}
            input={NUMBER_INPUT}
          />
          <TextField
            label={words.conditions.mayWait}
            name="deliver_within_minutes"
            hint={words.conditions.mayWaitHint}
            state={state}
            value={draft.deliverMinutes}
            onChange={(deliverMinutes) => change({ deliverMinutes })}
            input={NUMBER_INPUT}
          />
          <TextField
            label={words.conditions.webhook}
            name="notify_url"
            hint={words.conditions.webhookHint}
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
    ['canaries', 'canary_count', words.rules.canaries, words.rules.canariesHint],
    ['ratePerMinute', 'rate_per_minute', words.rules.rate, words.rules.rateHint],
    ['mostAtOnce', 'most_at_once', words.rules.mostAtOnce, words.rules.mostAtOnceHint],
    ['stopAtFailures', 'abort_after_failures', words.rules.stopAtFailures, words.rules.stopAtFailuresHint],
    ['stopAtPercent', 'abort_at_percent', words.rules.stopAtPercent, words.rules.stopAtPercentHint],
  ];
  return (
    <Section title={words.rules.title}>
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
