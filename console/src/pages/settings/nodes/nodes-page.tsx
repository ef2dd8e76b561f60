import { useState } from 'react';
import type { ControlPlane } from '../../../../../client/browser.ts';
import { Empty } from '../../../parts/empty.tsx';
import { fill } from '../../../parts/fill.tsx';
import { Lamp } from '../../../parts/lamp.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { sentenceOf as sentenceOfError, TryAgain } from '../../../parts/reading.tsx';
import type { Column } from '../../../parts/record-table.tsx';
import { ShortTable } from '../../../parts/short-table.tsx';
import { secondsTime } from '../../../parts/times.ts';
import { WorkLamp } from '../../../parts/work-lamp.tsx';
import { SettingsPage } from '../settings-page.tsx';
import { words as settingsWords } from '../words.ts';
import { DrainNode, ResumeNode } from './change-node.tsx';
import { useNodes } from './use-nodes.ts';
import type { Nodes } from './use-nodes.ts';
import { ageOf, isAlone, mayDrain, sentenceOf, STATE_WORDS, stateOf, versionOf, words } from './words.ts';
import type { NodeState } from './words.ts';

interface Asked {
  kind: 'drain' | 'resume';
  node: ControlPlane;
}

/** Which control planes serve the installation, and how each of them is. */
export function NodesPage() {
  const nodes = useNodes();
  const { records } = nodes;
  return (
    <SettingsPage
      name={settingsWords.part.nodes}
      sentence={isAlone(records) ? undefined : sentenceOf(records)}
      note={isAlone(records) ? words.forAll : `${words.forAll} ${words.drainFirst}`}
    >
      {nodes.error !== null && !nodes.isFirst && records.length > 0 ? <Old error={nodes.error} readAt={nodes.readAt} /> : null}
      {records.length > 0 && isAlone(records) ? <Alone node={records[0]} /> : <Table list={nodes} />}
    </SettingsPage>
  );
}

/** What is shown stays, and says how old it is. */
function Old({ error, readAt }: { error: Error; readAt: number }) {
  return (
    <p className="hint" role="alert">
      {words.asOf(secondsTime(readAt))} {sentenceOfError(error)} <TryAgain />
    </p>
  );
}

function Alone({ node }: { node?: ControlPlane | undefined }) {
  return (
    <div className="empty">
      <AloneWords node={node} />
    </div>
  );
}

function AloneWords({ node }: { node?: ControlPlane | undefined }) {
  return (
    <Empty title={words.alone.title}>
      {node === undefined ? null : (
        <>{fill(words.alone.runs, { name: node.name, version: node.version, time: <Moment at={node.started_at} /> })} </>
      )}
      {words.alone.text}
    </Empty>
  );
}

function Table({ list }: { list: Nodes }) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <>
      <ShortTable<ControlPlane>
        label={words.table}
        list={list}
        keyOf={({ id }) => id}
        columns={columnsOf(list.records, setAsked)}
        empty={<AloneWords />}
      />
      {asked?.kind === 'drain' ? <DrainNode node={asked.node} onClose={close} /> : null}
      {asked?.kind === 'resume' ? <ResumeNode node={asked.node} onClose={close} /> : null}
    </>
  );
}

function columnsOf(nodes: readonly ControlPlane[], onAsk: (asked: Asked) => void): readonly Column<ControlPlane>[] {
  const version = versionOf(nodes);
  return [
    { title: words.column.name, width: 'minmax(200px, 1fr)', cell: (node) => <Name node={node} /> },
    { title: words.column.state, width: '130px', cell: (node) => <State node={node} /> },
    {
      title: words.column.version,
      width: '130px',
      className: 'el',
      cell: (node) => <Version node={node} isOther={node.version !== version} />,
    },
    {
      title: words.column.bus,
      width: '90px',
      cell: ({ bus_connected: isOn }) => (isOn ? <span className="dim">{words.bus.on}</span> : <b className="c-not">{words.bus.off}</b>),
    },
    { title: words.column.started, width: '84px', className: 'dim', cell: ({ started_at: at }) => <Moment at={at} /> },
    { title: words.column.beat, width: '72px', className: 'num', cell: (node) => <Age node={node} /> },
    { title: words.column.agents, width: '64px', className: 'num', cell: ({ tunnels }) => tunnels },
    { title: words.column.clients, width: '64px', className: 'num', cell: ({ clients }) => clients },
    {
      title: words.column.actions,
      width: '140px',
      className: 'row-acts',
      cell: (node) => <Actions node={node} nodes={nodes} onAsk={onAsk} />,
    },
  ];
}

/** Where it runs, and how agents reach it. */
function Name({ node: { id, name, public_url: url, answers } }: { node: ControlPlane }) {
  return (
    <div className="node" title={`${name}, ${id}`}>
      <b className="el">{name}</b>
      <span className="hint el">{answers ? words.answers(url) : url}</span>
    </div>
  );
}

/** Each has a shape of its own. What is as wished stays quiet. */
function State({ node }: { node: ControlPlane }) {
  const state = stateOf(node);
  return (
    <span className="lamp">
      {LAMPS[state]}
      <span className={WORD_CLASSES[state]}>{STATE_WORDS[state]}</span>
    </span>
  );
}

const LAMPS: Record<NodeState, React.ReactNode> = {
  up: <Lamp state="answering" />,
  draining: <WorkLamp work="running" />,
  drained: <WorkLamp work="waiting" />,
  silent: <Lamp state="not_answering" />,
  unseen: <WorkLamp work="unknown" />,
};
const WORD_CLASSES: Record<NodeState, string> = { up: 'dim', draining: 'b', drained: 'b', silent: 'c-not b', unseen: 'b' };

function Age({ node }: { node: ControlPlane }) {
  return <span className={stateOf(node) === 'silent' ? 'c-not b' : 'dim'}>{ageOf(node)}</span>;
}

/** During an upgrade: which of them are not what answers. */
function Version({ node: { version }, isOther }: { node: ControlPlane; isOther: boolean }) {
  if (!isOther) return <span className="id">{version}</span>;
  return (
    <span title={words.version.title}>
      <b className="id c-away">{version}</b> <span className="dim">{words.version.differs}</span>
    </span>
  );
}

function Actions({ node, nodes, onAsk }: { node: ControlPlane; nodes: readonly ControlPlane[]; onAsk: (asked: Asked) => void }) {
  if (node.state === 'draining')
    return (
      <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'resume', node })}>
        {words.act.resume}
        <span className="sr"> {node.name}</span>
      </button>
    );
  if (!mayDrain(node, nodes)) return null;
  return (
    <button type="button" className="btn quiet sm" onClick={() => onAsk({ kind: 'drain', node })}>
      {words.act.drain}
      <span className="sr"> {node.name}</span>
    </button>
  );
}
