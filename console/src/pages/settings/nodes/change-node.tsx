import type { ControlPlane } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { NODES } from './use-nodes.ts';
import { whatDrains } from './words.ts';

interface Props {
  node: ControlPlane;
  onClose: () => void;
}

export function DrainNode({ node, onClose }: Props) {
  return (
    <Confirm
      title={`Drain ${node.name}?`}
      action="Drain"
      operation="drainNode"
      input={{ path: { node_id: node.id } }}
      stale={[NODES]}
      onClose={onClose}
    >
      {whatDrains(node).map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </Confirm>
  );
}

export function ResumeNode({ node, onClose }: Props) {
  return (
    <Confirm
      title={`Let ${node.name} take work again?`}
      action="Take work again"
      isHarmless
      operation="resumeNode"
      input={{ path: { node_id: node.id } }}
      stale={[NODES]}
      onClose={onClose}
    >
      <p>
        The load balancer sends it new requests and agents again. Of the agents that have gone to the others it gets its share, over some
        minutes.
      </p>
    </Confirm>
  );
}
