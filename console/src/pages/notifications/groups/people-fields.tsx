import { useState } from 'react';
import type { NotificationGroup } from '../../../../../client/browser.ts';
import { channelName } from '../words.ts';
import type { PartProps } from './part-props.ts';
import { words } from './words.ts';

type Channel = NotificationGroup['notifiables'][number]['channel'];

/** A person, and how they are told; undefined: as they have chosen themselves. */
interface Line {
  id: string;
  channel: Channel | undefined;
}

/** Ways to a person; the others lead to channels of the team. */
const WAYS: readonly Channel[] = ['email', 'sms', 'whatsapp', 'telegram', 'push'];

/** Who is told, and how: any number of ways for each person. */
export function PeopleFields({ group, names, draft, onChange }: PartProps) {
  const { recipients = group.recipients, notifiables = group.notifiables } = draft;
  const lines: Line[] = [...recipients.map((id) => ({ id, channel: undefined })), ...notifiables];
  const write = (changed: readonly Line[]): void =>
    onChange({
      recipients: changed.filter(({ channel }) => channel === undefined).map(({ id }) => id),
      notifiables: changed.flatMap(({ id, channel }) => (channel === undefined ? [] : [{ id, channel }])),
    });
  const nameOf = (id: string): string => names.members.get(id)?.email ?? words.people.left;
  return (
    <>
      <ul className="form-lines" aria-label={words.people.label}>
        {lines.map((line) => (
          <li className="form-line" key={`${line.id} ${line.channel ?? ''}`}>
            <span>
              <b className="b">{nameOf(line.id)}</b> <span className="dim">{wayWords(line.channel)}</span>
            </span>
            <button type="button" className="btn quiet sm" onClick={() => write(lines.filter((one) => one !== line))}>
              {words.people.takeOut}
              <span className="sr"> {nameOf(line.id)}</span>
            </button>
          </li>
        ))}
        {lines.length === 0 ? <li className="hint">{words.people.nobody}</li> : null}
      </ul>
      <Adder
        people={[...names.members.values()].filter(({ active }) => active)}
        onAdd={(line) => {
          if (!lines.some(({ id, channel }) => id === line.id && channel === line.channel)) write([...lines, line]);
        }}
      />
    </>
  );
}

function wayWords(channel: Channel | undefined): string {
  return channel === undefined ? words.people.asChosen : words.people.by(channelName(channel));
}

function Adder({ people, onAdd }: { people: readonly { id: string; email: string }[]; onAdd: (line: Line) => void }) {
  const [id, setId] = useState('');
  const [channel, setChannel] = useState<Channel | ''>('');
  return (
    <div className="form-line">
      <label>
        <span className="sr">{words.people.person}</span>
        <select className="control" value={id} onChange={({ target }) => setId(target.value)}>
          <option value="">{words.people.choose}</option>
          {people.map((person) => (
            <option key={person.id} value={person.id}>
              {person.email}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="sr">{words.people.how}</span>
        <select className="control" value={channel} onChange={({ target }) => setChannel(target.value as Channel | '')}>
          <option value="">{words.people.asChosen}</option>
          {WAYS.map((way) => (
            <option key={way} value={way}>
              {words.people.by(channelName(way))}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className="btn"
        disabled={id === ''}
        onClick={() => {
          onAdd({ id, channel: channel === '' ? undefined : channel });
          setId('');
        }}
      >
        {words.people.add}
      </button>
    </div>
  );
}
