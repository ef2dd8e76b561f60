import type { Router } from '../../../../../client/browser.ts';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { numberWords } from '../../../parts/sizes.ts';
import type { Caution } from './caution.ts';
import { deedDoes, deedName } from './deed-words.ts';
import { SCRIPT_CHARS, isGuarded } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';
import { listOf } from '../words.ts';
import { words } from './words.ts';

interface Props {
  routers: readonly Router[];
  draft: ScriptDraft;
  caution: Caution;
  isCampaign: boolean;
}

interface Check {
  work: Work;
  name: string;
  says: string;
}

/** What is known before anything runs: who answers, what the script touches, whether it can be undone. */
export function Preflight({ routers, draft, caution, isCampaign }: Props) {
  return (
    <Section title={words.preflight.title}>
      {checksOf({ routers, draft, caution, isCampaign }).map(({ work, name, says }) => (
        <div className="line check-line" key={name}>
          <WorkLamp work={work} size={11} />
          <span>{name}</span>
          <span className="num dim">{says}</span>
        </div>
      ))}
      {caution.deeds.map((deed) => (
        <p key={deed} className="hint caution">
          {deedDoes(deed)}
        </p>
      ))}
      {caution.guard === 'useless' ? null : <GuardHint draft={draft} caution={caution} />}
    </Section>
  );
}

/** What the guard does, or what is missing without it. */
function GuardHint({ draft, caution: { touches, guard } }: Pick<Props, 'draft' | 'caution'>) {
  if (isGuarded(draft, guard === 'wanted')) {
    return (
      <p className="hint caution">
        {touches.length === 0 ? words.preflight.guardOn(draft.guardSeconds) : words.preflight.guardOnFor(touches, draft.guardSeconds)}
      </p>
    );
  }
  return touches.length === 0 ? null : <p className="hint c-not">{words.preflight.guardOff(touches)}</p>;
}

function checksOf({ routers, draft, caution, isCampaign }: Props): Check[] {
  const answering = routers.filter(({ state }) => state === 'answering').length;
  const isEmpty = draft.script.trim() === '';
  return [
    {
      work: routers.length > 0 && answering === routers.length ? 'done' : 'waiting',
      name: words.preflight.answer,
      says: answeringWords(answering, routers.length),
    },
    {
      work: draft.script.length > SCRIPT_CHARS ? 'failed' : isEmpty ? 'waiting' : 'done',
      name: words.preflight.length,
      says: words.preflight.lengthOf(numberWords(draft.script.length), numberWords(SCRIPT_CHARS)),
    },
    lockOutOf(draft, caution),
    ...caution.deeds.map((deed): Check => ({ work: 'failed', name: sentenceCase(deedName(deed)), says: words.preflight.noUndo })),
    {
      work: draft.backup ? 'done' : 'waiting',
      name: isCampaign ? words.preflight.backupOfEach : words.preflight.backup,
      says: draft.backup ? words.preflight.backupFirst : words.preflight.noBackup,
    },
  ];
}

/** Whether something was found that can lock the person out. Before anything is written, nobody can say. */
function lockOutOf(draft: ScriptDraft, { touches, guard }: Caution): Check {
  const isGuardOn = isGuarded(draft, guard === 'wanted') && guard !== 'useless';
  const says = isGuardOn ? words.preflight.guard(draft.guardSeconds) : guard === 'useless' ? words.preflight.uselessGuard : undefined;
  if (touches.length > 0)
    return { work: isGuardOn ? 'armed' : 'failed', name: sentenceCase(listOf(touches)), says: says ?? words.preflight.noGuard };
  const isEmpty = draft.script.trim() === '';
  return {
    work: isEmpty ? 'waiting' : 'done',
    name: words.preflight.lockOut,
    says: says ?? (isEmpty ? words.preflight.noScript : words.preflight.noneFound),
  };
}

function answeringWords(answering: number, all: number): string {
  if (all === 0) return words.preflight.noRouter;
  return answering < all ? words.preflight.someAnswer(answering, all) : words.preflight.allAnswer(answering, all);
}
