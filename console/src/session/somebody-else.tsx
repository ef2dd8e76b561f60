import type { Me } from '../../../client/browser.ts';

/** Another tab has signed in as somebody else or to another team. What this tab showed is no longer this browser's to see. */
export function SomebodyElse({ who }: { who: Me }) {
  return (
    <main className="notice">
      <title>Signed in elsewhere – Signalbox</title>
      <h1>This browser is signed in to {who.team.name} now</h1>
      <p>
        In another tab, <b>{who.email ?? who.id}</b> signed in to <b>{who.team.name}</b>. This tab showed another session, and does nothing
        more.
      </p>
      <a href="/" className="btn main-act">
        Go on in {who.team.name}
      </a>
    </main>
  );
}
