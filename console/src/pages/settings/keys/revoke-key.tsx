import { useState } from 'react';
import type { ApiKey } from '../../../../../client/browser.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { CheckField } from '../../../parts/form.tsx';
import { WHAT_ENDS } from '../words.ts';
import { words } from './words.ts';

interface Props {
  apiKey: ApiKey;
  onClose: () => void;
  onRevoked: (key: ApiKey) => void;
}

export function RevokeKey({ apiKey, onClose, onRevoked }: Props) {
  const [withKeys, setWithKeys] = useState(false);
  return (
    <Confirm
      title={words.revoke.title(apiKey.name)}
      action={words.revoke.act}
      operation="revokeApiKey"
      input={{ path: { key_id: apiKey.id }, query: { revoke_keys: withKeys ? 'true' : 'false' } }}
      stale={['api-keys', 'revocations']}
      onClose={onClose}
      onDone={() => onRevoked(apiKey)}
    >
      <p>
        {words.revoke.about} {WHAT_ENDS}
      </p>
      <CheckField label={words.revoke.withKeys} isChecked={withKeys} onChange={setWithKeys} />
    </Confirm>
  );
}
