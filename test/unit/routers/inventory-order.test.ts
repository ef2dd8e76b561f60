import { expect, test } from 'vitest';
import { InventoryOrder } from '../../../server/compose/wires/inventory-order.ts';

test('messages after an inventory wait for it, the latest of each kind; those of other routers and agents do not', () => {
  const order = new InventoryOrder();
  const done: string[] = [];
  order.run('agent', 'one', 'heartbeat', () => done.push('at once'));
  order.arrived('agent', 'one');
  order.arrived('agent', 'one');
  order.run('agent', 'one', 'heartbeat', () => done.push('outdated'));
  order.run('agent', 'one', 'heartbeat', () => done.push('beat'));
  order.run('agent', 'one', 'health', () => done.push('health'));
  order.run('agent', 'two', 'heartbeat', () => done.push('two'));
  order.run('other', 'one', 'heartbeat', () => done.push('other'));
  expect(done).toEqual(['at once', 'two', 'other']);
  order.stored('agent', 'one');
  expect(order.isWaiting('agent', 'one')).toBe(true);
  order.stored('agent', 'one');
  expect(done).toEqual(['at once', 'two', 'other', 'beat', 'health']);
  expect(order.isWaiting('agent', 'one')).toBe(false);
});

test('messages of a closed tunnel are dropped', () => {
  const order = new InventoryOrder();
  order.arrived('agent', 'one');
  order.run('agent', 'one', 'heartbeat', () => expect.unreachable());
  order.forget('agent');
  order.stored('agent', 'one');
});
