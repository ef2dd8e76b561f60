import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Campaign, CampaignTarget } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Outcome } from '../../../parts/form.tsx';
import { MissingRecord } from '../../../parts/missing.tsx';
import { PageHead } from '../../../parts/page-head.tsx';
import { Reading } from '../../../parts/reading.tsx';
import { ScriptView } from '../../../parts/script-view.tsx';
import { Section } from '../../../parts/section.tsx';
import { exactTime, shortTime } from '../../../parts/times.ts';
import { useNow } from '../../../parts/use-now.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { useMay } from '../../../session/use-may.ts';
import { cautionOf } from '../run/caution.ts';
import { Groups } from './groups.tsx';
import { Matrix } from './matrix.tsx';
import { MOST_LISTED, TargetList } from './target-list.tsx';
import { NotAsWished, RunningNow, TargetsOf } from './target-lists.tsx';
import { CampaignTally } from './tally.tsx';
import { useAllTargets } from './use-targets.ts';
import { Waves } from './waves-view.tsx';
import { wavesOf } from './waves.ts';
import { campaignSentence, failuresOf, words, workOfCampaign } from './words.ts';
import '../work.css';

/** One campaign: where its front is, what became of each router, and when it stops by itself. */
export function CampaignPage() {
  const { campaignId } = useParams({ from: '/campaigns/$campaignId' });
  const campaign = useRecord('campaigns', 'getCampaign', { path: { campaign_id: campaignId } });
  if (campaign.error && !campaign.data)
    return <MissingRecord error={campaign.error} what={words.campaign} list={{ href: '/campaigns', name: words.campaigns }} />;
  if (!campaign.data) return <Reading />;
  return <Found campaign={campaign.data} />;
}

function Found({ campaign }: { campaign: Campaign }) {
  const { show } = useSearch({ from: '/campaigns/$campaignId' });
  const navigate = useNavigate({ from: '/campaigns/$campaignId' });
  const isGoingOn = campaign.finished_at === null && campaign.state !== 'paused';
  const targets = useAllTargets(campaign.id, campaign.target_count);
  const now = useNow(1000, campaign.finished_at === null);
  const { strong, weak } = campaignSentence(campaign);
  return (
    <>
      <PageHead
        crumb={
          <>
            <Link to="/campaigns" className="hand" activeOptions={{ exact: true }}>
              {words.campaigns}
            </Link>{' '}
            /{' '}
            {fill(words.head.list(campaign.target_count), {
              started: <span title={exactTime(campaign.created_at)}>{words.head.started(shortTime(campaign.created_at))}</span>,
            })}
          </>
        }
        title={
          <span className="named">
            <WorkLamp work={workOfCampaign(campaign)} size={15} />
            <b>{campaign.description === '' ? words.head.noDescription : campaign.description}.</b> <span>{strong}</span> {weak}
          </span>
        }
        actions={<Controls campaign={campaign} />}
      />
      <CampaignTally campaign={campaign} />
      <div className="cols campaign-cols">
        <div>
          {targets === undefined ? (
            <Reading />
          ) : (
            <>
              <Waves
                waves={wavesOf(targets, { ratePerMinute: campaign.rate_per_minute, isGoingOn: campaign.state === 'running', now })}
                now={now}
                isGoingOn={isGoingOn}
              />
              {targets.length <= MOST_LISTED ? <TargetList campaignId={campaign.id} targets={targets} /> : <Matrix targets={targets} />}
              {show === undefined ? null : (
                <TargetsOf targets={targets} work={show} onClose={() => void navigate({ search: {}, replace: true })} />
              )}
            </>
          )}
          <StopRule campaign={campaign} />
        </div>
        <div>
          {targets === undefined ? null : <Lists targets={targets} now={now} />}
          <Groups campaignId={campaign.id} />
          <Section title={words.script.title} small={scriptSmall(campaign)}>
            <ScriptView script={campaign.script} risky={cautionOf(campaign.script).lines} />
          </Section>
        </div>
      </div>
    </>
  );
}

function scriptSmall({ make_backup: hasBackup, undo_unless_reachable_seconds: guard }: Campaign): string {
  return words.script.conditions(hasBackup, guard);
}

function Lists({ targets, now }: { targets: readonly CampaignTarget[]; now: number }) {
  return (
    <>
      <RunningNow targets={targets} now={now} />
      <NotAsWished targets={targets} />
    </>
  );
}

function Controls({ campaign }: { campaign: Campaign }) {
  const mayRun = useMay('operator');
  const [isCanceling, setCanceling] = useState(false);
  const pause = useWrite('pauseCampaign', ['campaigns', 'overview']);
  const resume = useWrite('resumeCampaign', ['campaigns', 'overview']);
  const input = { path: { campaign_id: campaign.id } };
  if (!mayRun || (campaign.state !== 'running' && campaign.state !== 'paused')) return null;
  const isPaused = campaign.state === 'paused';
  const write = isPaused ? resume : pause;
  return (
    <>
      <Outcome state={write.state} onLookAgain={() => void write.lookAgain()} />
      <button
        type="button"
        className={isPaused ? 'btn main-act' : 'btn'}
        disabled={write.state.kind === 'sending'}
        onClick={() => void write.send(input)}
      >
        {isPaused ? words.head.goOn : words.head.pause}
      </button>
      <button type="button" className="btn danger" onClick={() => setCanceling(true)}>
        {words.head.cancel}
      </button>
      {isCanceling ? (
        <Confirm
          title={words.cancel.title}
          action={words.cancel.cancel}
          keep={words.cancel.keep}
          operation="cancelCampaign"
          input={input}
          stale={['campaigns', 'jobs', 'overview']}
          onClose={() => setCanceling(false)}
        >
          <p>{words.cancel.what(campaign.counts.waiting)}</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** More pips than this are a number. */
const MOST_PIPS = 12;

function StopRule({ campaign }: { campaign: Campaign }) {
  const { abort_after_failures: most, abort_at_percent: percent, canary_count: canaries } = campaign;
  const failures = failuresOf(campaign);
  return (
    <Section title={words.stopRule.title} small={words.stopRule.order}>
      <div className="rules">
        {canaries === 0 ? null : <span>{words.stopRule.canaries(canaries)}</span>}
        {most === null ? null : (
          <span className="c-not">
            <span className="ink">{words.stopRule.at(most)}</span>{' '}
            {most > MOST_PIPS ? (
              words.stopRule.has(failures)
            ) : (
              <span className="pips" role="img" aria-label={words.stopRule.soFar(failures)}>
                {Array.from({ length: most }, (_none, index) => (
                  // oxlint-disable-next-line react/no-array-index-key
                  <i key={index} className={index < failures ? 'f' : undefined} />
                ))}
              </span>
            )}
          </span>
        )}
        {percent === null ? null : <span>{words.stopRule.percent(percent)}</span>}
        {most === null && percent === null ? <span className="dim">{words.stopRule.none}</span> : null}
      </div>
    </Section>
  );
}
