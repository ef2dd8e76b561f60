import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { ConnectionError, ProblemError } from '../../client/browser.ts';
import { Fleet } from './data/fleet.ts';
import { FleetContext } from './data/use-fleet.ts';
import { createAppRouter } from './routes.ts';
import type { AppRouter } from './routes.ts';
import type { Session } from './session/session.ts';
import { denialOf } from './session/provider.ts';
import { NotSignedIn } from './session/signed-out.tsx';
import { SomebodyElse } from './session/somebody-else.tsx';
import { SessionContext } from './session/use-session.ts';
import { words } from './words.ts';

type Opened = { fleet: Fleet; router: AppRouter };

/** Signs the person in, reads the fleet once, and shows the pages. */
export function App({ session }: { session: Session }) {
  const [opened, setOpened] = useState<Opened>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    open(session).then(setOpened, setFailure);
  }, [session]);
  const other = useSyncExternalStore(session.tokens.subscribe, () => session.tokens.other);
  const denial = useSyncExternalStore(session.tokens.subscribe, () => session.tokens.denial) ?? denialOf(failure);
  if (other !== undefined) return <SomebodyElse who={other} />;
  if (denial !== undefined) return <NotSignedIn why={denial} />;
  if (failure !== undefined) return <Failed reason={failure} />;
  if (!opened)
    return (
      <p className="opening" role="status">
        {words.signingIn}
      </p>
    );
  return (
    <SessionContext value={session}>
      <FleetContext value={opened.fleet}>
        <QueryClientProvider client={opened.fleet.queries}>
          <Pages {...opened} />
        </QueryClientProvider>
      </FleetContext>
    </SessionContext>
  );
}

/** Everything is drawn anew when its times are shown in another zone. */
function Pages({ fleet: { preferences }, router }: Opened) {
  const zone = useSyncExternalStore(preferences.subscribe, () => preferences.chosen.timeZone);
  return <RouterProvider key={zone ?? ''} router={router} />;
}

async function open(session: Session): Promise<Opened | undefined> {
  const path = await session.open();
  if (path === undefined) return undefined;
  // A reload keeps what stands beside the address.
  history.replaceState(path === location.pathname + location.search + location.hash ? history.state : null, '', path);
  return { fleet: await Fleet.open(session), router: createAppRouter() };
}

function Failed({ reason }: { reason: unknown }) {
  return (
    <main className="notice">
      <h1>{words.failed}</h1>
      <p>{sentenceOf(reason)}</p>
      <button type="button" className="btn main-act" onClick={tryAgain}>
        {words.tryAgain}
      </button>
    </main>
  );
}

/** The provider's answer in the address of /callback works once: from there the sign-in begins anew. */
function tryAgain(): void {
  if (location.pathname === '/callback') location.replace('/');
  else location.reload();
}

function sentenceOf(reason: unknown): string {
  if (reason instanceof ProblemError) return words.problem(reason.message, reason.requestId);
  if (reason instanceof ConnectionError) return words.noAnswer;
  return reason instanceof Error ? reason.message : String(reason);
}
