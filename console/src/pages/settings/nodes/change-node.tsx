import type { ControlPlane } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { NODES } from './use-nodes.ts';
import { whatDrains, words } from './words.ts';

interface Props {
  node: ControlPlane;
  onClose: () => void;
}

export function DrainNode({ node, onClose }: Props) {
  return (
    <Confirm
      title={words.drain.title(node.name)}
      action={words.drain.act}
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
      title={words.resume.title(node.name)}
      action={words.resume.act}
      isHarmless
      operation="resumeNode"
      input={{ path: { node_id: node.id } }}
      stale={[NODES]}
      onClose={onClose}
    >
      <p>{words.resume.about}</p>
    </Confirm>
  );
}
