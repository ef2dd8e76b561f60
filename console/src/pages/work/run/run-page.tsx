import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { PageHead } from '../../../parts/page-head.tsx';
import { useFleet } from '../../../data/use-fleet.ts';
import { useMay } from '../../../session/use-may.ts';
import { CommandPanel } from './command-panel.tsx';
import { ScriptPanel } from './script-panel.tsx';
import { TargetPicker, useTargets } from './targets.tsx';
import { words } from './words.ts';
import '../work.css';

/** A command or a script for one router or many. The routers, the filter and the kind of work are in the address. */
export function RunPage() {
  const search = useSearch({ from: '/run' });
  const navigate = useNavigate({ from: '/run' });
  const targets = useTargets(search);
  const { routers } = useFleet();
  const mayRun = useMay('operator');
  if (!mayRun) return <PageHead title={words.page.title} sentence={words.page.mayNot} />;
  if (routers.size === 0) return <PageHead title={words.page.title} sentence={words.page.noRouter} />;
  const [first] = targets.routers;
  const isScript = search.mode === 'script';
  const where = targets.routers.length === 1 ? words.page.titleOn(first!.identity) : words.page.titleOnMany(targets.routers.length);
  return (
    <>
      <PageHead title={targets.routers.length === 0 ? words.page.titleOnNone : where} />
      <TargetPicker
        targets={targets}
        search={search}
        onChange={({ q, routers: named }) =>
          void navigate({
            search: ({ q: _q, routers: _routers, chosen: _chosen, ...rest }) => ({
              ...rest,
              ...(q ? { q } : {}),
              ...(named ? { routers: named } : {}),
            }),
            replace: q !== undefined,
          })
        }
      />
      <nav className="tabs" aria-label={words.page.what}>
        <Link
          to="/run"
          state
          search={({ mode: _mode, from: _from, ...rest }) => rest}
          className={isScript ? '' : 'on'}
          aria-current={isScript ? undefined : 'page'}
        >
          {words.page.command}
        </Link>
        <Link
          to="/run"
          state
          search={(before) => ({ ...before, mode: 'script' })}
          className={isScript ? 'on' : ''}
          aria-current={isScript ? 'page' : undefined}
        >
          {words.page.script}
        </Link>
      </nav>
      {isScript ? (
        <ScriptPanel routers={targets.routers} from={search.from} isCampaign={targets.routers.length > 1} page="run" />
      ) : (
        <CommandPanel key={search.command} routers={targets.routers} first={search.command ?? ''} />
      )}
    </>
  );
}
