import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { Campaign, CampaignTarget } from '../../../../../client/browser.ts';
import { useRecord } from '../../../data/use-record.ts';
import { useWrite } from '../../../data/use-write.ts';
import { Confirm } from '../../../parts/confirm.tsx';
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
import { countOf } from '../words.ts';
import { Groups } from './groups.tsx';
import { Matrix } from './matrix.tsx';
import { NotAsWished, RunningNow, TargetsOf } from './target-lists.tsx';
import { CampaignTally } from './tally.tsx';
import { useAllTargets } from './use-targets.ts';
import { Waves } from './waves-view.tsx';
import { wavesOf } from './waves.ts';
import { campaignSentence, failuresOf, workOfCampaign } from './words.ts';
import '../work.css';

/** One campaign: where its front is, what became of each router, and when it stops by itself. */
export function CampaignPage() {
  const { campaignId } = useParams({ from: '/campaigns/$campaignId' });
  const campaign = useRecord('campaigns', 'getCampaign', { path: { campaign_id: campaignId } });
  if (campaign.error && !campaign.data)
    return <MissingRecord error={campaign.error} what="campaign" list={{ href: '/campaigns', name: 'Campaigns' }} />;
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
              Campaigns
            </Link>{' '}
            / <span title={exactTime(campaign.created_at)}>started {shortTime(campaign.created_at)}</span>, fixed list of{' '}
            {countOf(campaign.target_count, 'router')}
          </>
        }
        title={
          <span className="named">
            <WorkLamp work={workOfCampaign(campaign)} size={15} />
            <b>{campaign.description === '' ? 'Without a description' : campaign.description}.</b> <span>{strong}</span> {weak}
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
              <Matrix targets={targets} />
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
          <Section title="Script" small={scriptSmall(campaign)}>
            <ScriptView script={campaign.script} risky={cautionOf(campaign.script).lines} />
          </Section>
        </div>
      </div>
    </>
  );
}

function scriptSmall({ make_backup: hasBackup, undo_unless_reachable_seconds: guard }: Campaign): string {
  return [hasBackup ? 'backup first' : 'no backup', guard === null ? 'no guard' : `guard ${guard} s`].join(', ');
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
        {isPaused ? 'Go on' : 'Pause'}
      </button>
      <button type="button" className="btn danger" onClick={() => setCanceling(true)}>
        Cancel the campaign
      </button>
      {isCanceling ? (
        <Confirm
          title="Cancel this campaign?"
          action="Cancel the campaign"
          operation="cancelCampaign"
          input={input}
          stale={['campaigns', 'jobs', 'overview']}
          onClose={() => setCanceling(false)}
        >
          <p>
            {countOf(campaign.counts.waiting, 'router')} {campaign.counts.waiting === 1 ? 'gets' : 'get'} no job. Jobs that wait are taken
            back. Scripts that have begun go on to their end.
          </p>
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
    <Section title="Stops by itself" small="whichever comes first">
      <div className="rules">
        {canaries === 0 ? null : <span>when {canaries === 1 ? 'its canary fails' : `one of ${canaries} canaries fails`}</span>}
        {most === null ? null : (
          <span className="c-not">
            <span className="ink">at {most} failed</span>{' '}
            {most > MOST_PIPS ? (
              `has ${failures}`
            ) : (
              <span className="pips" role="img" aria-label={`${failures} so far`}>
                {Array.from({ length: most }, (_none, index) => (
                  // oxlint-disable-next-line react/no-array-index-key
                  <i key={index} className={index < failures ? 'f' : undefined} />
                ))}
              </span>
            )}
          </span>
        )}
        {percent === null ? null : <span>at {percent} % failed, from the fifth result on</span>}
        {most === null && percent === null ? <span className="dim">failures of the others do not stop it</span> : null}
      </div>
    </Section>
  );
}
