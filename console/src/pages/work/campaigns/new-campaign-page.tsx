import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { PageHead } from '../../../parts/page-head.tsx';
import { useMay } from '../../../session/use-may.ts';
import { ScriptPanel } from '../run/script-panel.tsx';
import { TargetPicker, useTargets } from '../run/targets.tsx';
import { words } from './words.ts';
import '../work.css';

/** A campaign is put together: which routers, what runs on them, and when it stops by itself. */
export function NewCampaignPage() {
  const search = useSearch({ from: '/campaigns/new' });
  const navigate = useNavigate({ from: '/campaigns/new' });
  const targets = useTargets(search);
  const mayRun = useMay('operator');
  if (!mayRun) return <PageHead title={words.newCampaign} sentence={words.mayNotNew} />;
  return (
    <>
      <PageHead
        crumb={
          <Link to="/campaigns" className="hand" activeOptions={{ exact: true }}>
            {words.campaigns}
          </Link>
        }
        title={targets.routers.length === 0 ? words.newCampaign : words.newOn(targets.routers.length)}
      />
      <TargetPicker
        targets={targets}
        search={search}
        onChange={({ q, routers }) =>
          void navigate({ search: { ...(q ? { q } : {}), ...(routers ? { routers } : {}) }, replace: q !== undefined })
        }
      />
      <ScriptPanel routers={targets.routers} from={search.from} isCampaign page="campaign" />
    </>
  );
}
