import './terminals.css';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Terminal } from '../../../../client/browser.ts';
import { useOpeners } from '../../data/use-names.ts';
import { useRecord } from '../../data/use-record.ts';
import { AppLink } from '../../parts/app-link.tsx';
import { fill } from '../../parts/fill.tsx';
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
import { words } from './words.ts';

/** One terminal: who, where, why, how it ended; for administrators, what the router printed, played again. */
export function RecordingPage() {
  const { terminalId } = useParams({ from: '/terminals/$terminalId' });
  const { data: terminal, error } = useRecord('terminals', 'getTerminal', { path: { terminal_id: terminalId } });
  const openerOf = useOpeners();
  const isAdmin = useMay('admin');
  if (error && !terminal) return <MissingRecord error={error} what={words.terminal} list={{ href: '/terminals', name: words.terminals }} />;
  if (!terminal) return <Reading />;
  return (
    <>
      <PageHead
        crumb={<AppLink href="/terminals">{words.terminals}</AppLink>}
        title={fill(words.recording.title, { router: <RouterLink id={terminal.router_id} /> })}
        sentence={
          <>
            <b>{terminal.reason}</b> {stateWords(terminal)}
          </>
        }
        note={fill(terminal.ended_at === null ? words.recording.note : words.recording.noteEnded, {
          level: terminal.level,
          opener: openerOf(terminal),
          source: terminal.source,
          start: <Moment at={terminal.created_at} />,
          end: <Moment at={terminal.ended_at} />,
        })}
      />
      {isAdmin && terminal.recording === 'kept' ? <Recording id={terminal.id} /> : <p className="empty">{missing(terminal, isAdmin)}</p>}
    </>
  );
}

function missing({ recording, status }: Terminal, isAdmin: boolean): string {
  if (!isAdmin) return words.recording.mayNot;
  if (recording === 'deleted') return words.recording.deleted;
  return status === 'open' ? words.recording.nothingYet : words.recording.nothing;
}

function Recording({ id }: { id: string }) {
  const session = useSession();
  const { data: cast, error } = useQuery({
    queryKey: ['recording', id],
    queryFn: async ({ signal }) => {
      const headers = { authorization: `Bearer ${await session.token()}` };
      const answer = await fetch(`/api/terminals/${encodeURIComponent(id)}/recording`, { headers, signal });
      // Deleted since the record was read: recordings are kept for some time only.
      if (answer.status === 404) return null;
      if (!answer.ok) throw new Error(answer.statusText);
      return readCast(await answer.text());
    },
  });
  if (error) return <ReadingFailed error={error} what={words.recording.what} />;
  if (cast === null) return <p className="empty">{words.recording.none}</p>;
  return cast ? <Player key={id} cast={cast} /> : <Reading />;
}

function Player({ cast }: { cast: Cast }) {
  const playback = usePlayback(cast);
  return (
    <div className="terminal-page">
      <Controls {...playback} />
      <Screen
        title={words.recording.screen}
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
    <div className="terminal-banner" role="group" aria-label={words.player.title}>
      <button type="button" className="btn sm main-act" onClick={playOrPause}>
        {isPlaying ? words.player.pause : words.player.play}
      </button>
      <input
        type="range"
        className="terminal-position"
        aria-label={words.player.position}
        min={0}
        max={Math.max(0.1, length)}
        step={0.1}
        value={at}
        onChange={(event) => seek(Number(event.target.value))}
      />
      <span className="num dim">{words.player.at(at.toFixed(0), length.toFixed(0))}</span>
      <label>
        {words.player.speed}{' '}
        <select
          className="control"
          value={speed}
          onChange={(event) => setSpeed(SPEEDS.find((each) => String(each) === event.target.value) ?? 1)}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {words.player.times(each)}
            </option>
          ))}
        </select>
      </label>
      <span className="dim">{words.player.pauses}</span>
    </div>
  );
}
