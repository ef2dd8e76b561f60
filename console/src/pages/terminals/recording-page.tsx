import './terminals.css';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Terminal } from '../../../../client/browser.ts';
import { useOpeners } from '../../data/use-names.ts';
import { useRecord } from '../../data/use-record.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { MissingRecord } from '../../parts/missing.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { Reading, ReadingFailed } from '../../parts/reading.tsx';
import { RouterLink } from '../../parts/router-link.tsx';
import { useMay } from '../../session/use-may.ts';
import { useSession } from '../../session/use-session.ts';
import { readCast } from './recording.ts';
import type { Cast } from './recording.ts';
import { Screen } from './screen.tsx';
import { SPEEDS, usePlayback } from './use-playback.ts';
import { stateWords } from '../../parts/terminal-words.ts';

/** One terminal: who, where, why, how it ended; for administrators, what the router printed, played again. */
export function RecordingPage() {
  const { terminalId } = useParams({ from: '/terminals/$terminalId' });
  const { data: terminal, error } = useRecord('terminals', 'getTerminal', { path: { terminal_id: terminalId } });
  const openerOf = useOpeners();
  const isAdmin = useMay('admin');
  if (error && !terminal) return <MissingRecord error={error} what="terminal" list={{ href: '/terminals', name: 'Terminals' }} />;
  if (!terminal) return <Reading />;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/terminals">Terminals</AppLink>}
        title={
          <>
            Terminal on <RouterLink id={terminal.router_id} />
          </>
        }
        sentence={
          <>
            <b>{terminal.reason}</b> {stateWords(terminal)}
          </>
        }
        note={
          <>
            Level {terminal.level}, opened by {openerOf(terminal)} from {terminal.source}, <Moment at={terminal.created_at} />
            {terminal.ended_at === null ? null : (
              <>
                {' '}
                to <Moment at={terminal.ended_at} />
              </>
            )}
          </>
        }
      />
      {isAdmin && terminal.recording === 'kept' ? <Recording id={terminal.id} /> : <p className="empty">{missing(terminal, isAdmin)}</p>}
    </>
  );
}

function missing({ recording, status }: Terminal, isAdmin: boolean): string {
  if (!isAdmin) return 'Administrators play recordings.';
  if (recording === 'deleted') return 'The recording was deleted: it was older than recordings are kept.';
  return status === 'open' ? 'The router has printed nothing yet.' : 'The router has printed nothing.';
}

function Recording({ id }: { id: string }) {
  const session = useSession();
  const { data: cast, error } = useQuery({
    queryKey: ['recording', id],
    queryFn: async ({ signal }) => {
      const headers = { authorization: `Bearer ${await session.token()}` };
      const answer = await fetch(`/api/terminals/${encodeURIComponent(id)}/recording`, { headers, signal });
      if (!answer.ok) throw new Error('There is no such recording.');
      return readCast(await answer.text());
    },
  });
  if (error) return <ReadingFailed error={error} what="The recording" />;
  return cast ? <Player key={id} cast={cast} /> : <Reading />;
}

function Player({ cast }: { cast: Cast }) {
  const playback = usePlayback(cast);
  return (
    <div className="terminal-page">
      <Controls {...playback} />
      <Screen
        title="Recording of a terminal"
        speaker={playback.speaker}
        onMessage={(message) => {
          if (message.kind === 'ready') playback.begin();
        }}
      />
    </div>
  );
}

function Controls({ at, length, speed, setSpeed, isPlaying, seek, playOrPause }: ReturnType<typeof usePlayback>) {
  return (
    <div className="terminal-banner" role="group" aria-label="Player">
      <button type="button" className="btn sm main-act" onClick={playOrPause}>
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <input
        type="range"
        className="terminal-position"
        aria-label="Position in seconds"
        min={0}
        max={Math.max(0.1, length)}
        step={0.1}
        value={at}
        onChange={(event) => seek(Number(event.target.value))}
      />
      <span className="num dim">
        {at.toFixed(0)} of {length.toFixed(0)} s
      </span>
      <label>
        Speed{' '}
        <select
          className="control"
          value={speed}
          onChange={(event) => setSpeed(SPEEDS.find((each) => String(each) === event.target.value) ?? 1)}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
      </label>
      <span className="dim">Pauses are shortened to two seconds.</span>
    </div>
  );
}
