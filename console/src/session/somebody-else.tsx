import type { Me } from '../../../client/browser.ts';
import { fill } from '../parts/fill.tsx';
import { words } from './words.ts';

/** Another tab has signed in as somebody else or to another team. What this tab showed is no longer this browser's to see. */
export function SomebodyElse({ who }: { who: Me }) {
  return (
    <main className="notice">
      <title>{words.somebodyElse.tab}</title>
      <h1>{words.somebodyElse.title(who.team.name)}</h1>
      <p>{fill(words.somebodyElse.what, { person: <b>{who.email ?? who.id}</b>, team: <b>{who.team.name}</b> })}</p>
      <a href="/" className="btn main-act">
        {words.somebodyElse.goOn(who.team.name)}
      </a>
    </main>
  );
}
