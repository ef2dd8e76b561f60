import type { Router } from '../../../../../client/browser.ts';
import { Section } from '../../../parts/section.tsx';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import type { Work } from '../../../parts/work.ts';
import { sentenceCase } from '../../../parts/sentence-case.ts';
import { numberWords } from '../../../parts/sizes.ts';
import type { Caution } from './caution.ts';
import { SCRIPT_CHARS, isGuarded } from './script-form.ts';
import type { ScriptDraft } from './script-form.ts';

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
  const isGuardOn = isGuarded(draft, caution.lines.size > 0);
  return (
    <Section title="Before it runs">
      {checksOf({ routers, draft, caution, isCampaign }).map(({ work, name, says }) => (
        <div className="line check-line" key={name}>
          <WorkLamp work={work} size={11} />
          <span>{name}</span>
          <span className="num dim">{says}</span>
        </div>
      ))}
      {isGuardOn ? (
        <p className="hint caution">
          {caution.touches.length === 0 ? 'With the guard on,' : `The guard is on because the script changes ${listOf(caution.touches)}:`}{' '}
          if the agent cannot reach the router in {draft.guardSeconds} s, the router loads the configuration from before it, with a reboot.
        </p>
      ) : caution.touches.length > 0 ? (
        <p className="hint c-not">
          Without the guard nothing undoes a change of {listOf(caution.touches)} that cuts the router off. Somebody has to go there.
        </p>
      ) : null}
    </Section>
  );
}

function checksOf({ routers, draft, caution, isCampaign }: Props): Check[] {
  const answering = routers.filter(({ state }) => state === 'answering').length;
  const isGuardOn = isGuarded(draft, caution.lines.size > 0);
  const isRisky = caution.lines.size > 0;
  return [
    {
      work: routers.length > 0 && answering === routers.length ? 'done' : 'waiting',
      name: 'Answer now',
      says:
        routers.length === 0 ? 'no router chosen' : `${answering} of ${routers.length}${answering < routers.length ? ', others wait' : ''}`,
    },
    {
      work: draft.script.length > SCRIPT_CHARS ? 'failed' : draft.script.trim() === '' ? 'waiting' : 'done',
      name: 'Length of the script',
      says: `${numberWords(draft.script.length)} of ${numberWords(SCRIPT_CHARS)}`,
    },
    {
      work: isRisky ? (isGuardOn ? 'armed' : 'failed') : 'done',
      name: isRisky ? sentenceCase(listOf(caution.touches)) : 'Addresses, routes, firewall, interfaces',
      says: isGuardOn ? `guard on, ${draft.guardSeconds} s` : isRisky ? 'no guard' : 'not touched',
    },
    {
      work: draft.backup ? 'done' : 'waiting',
      name: isCampaign ? 'Backup of each router' : 'Backup of the router',
      says: draft.backup ? 'first' : 'none',
    },
  ];
}

function listOf(words: readonly string[]): string {
  return words.length < 2 ? (words[0] ?? '') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
