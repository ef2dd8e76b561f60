import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Channel as LibraryChannelClass } from 'node-routeros/dist/Channel.js';
import { Connector as LibraryConnectorClass } from 'node-routeros/dist/connector/Connector.js';
import { Receiver as LibraryReceiverClass } from 'node-routeros/dist/connector/Receiver.js';
import { Transmitter as LibraryTransmitterClass } from 'node-routeros/dist/connector/Transmitter.js';

/**
 * The only import of node-routeros 1.6.9. Its types declare as private what our subclasses must override, so this file declares the
 * interfaces. Its main class RouterOSAPI is not used: it sends invalid `#` idle commands, throws strings, has a login that may never
 * settle, and computes a wrong MD5 hash.
 */

export interface LibraryReceiver {
  tags: Map<string, { name: string; callback: (packet: string[]) => void }>;
  currentPacket: string[];
  read(tag: string, callback: (packet: string[]) => void): void;
  stop(tag: string): void;
  processRawData(data: Buffer): void;
  /** Passes `currentPacket` to the tag's reader; throws when the tag has none. */
  sendTagData(tag: string): void;
}

export interface LibraryTransmitter {
  write(word: string | null): void;
  runPool(): void;
  encodeString(word: string | null): Buffer | string;
}

export interface ConnectorOptions {
  host: string;
  port: number;
  /** Idle timeout of the socket in seconds. */
  timeout: number;
  tls?: ConnectionOptions;
}

export interface LibraryConnector extends EventEmitter {
  host: string;
  port: number;
  socket: Socket;
  transmitter: LibraryTransmitter;
  receiver: LibraryReceiver;
  connect(): LibraryConnector;
  write(words: string[]): LibraryConnector;
  read(tag: string, callback: (packet: string[]) => void): void;
  stopRead(tag: string): void;
  close(): void;
  destroy(): void;
  onConnect(): void;
  onEnd(): void;
  onError(error: Error): void;
  onTimeout(): void;
  onData(data: Buffer): void;
}

export interface LibraryChannel extends EventEmitter {
  id: string;
  connector: LibraryConnector;
  write(words: string[], isStream: boolean, returnPromise: boolean): unknown;
  close(force?: boolean): void;
  processPacket(packet: string[]): void;
}

export const Receiver = LibraryReceiverClass as unknown as new (socket: Socket) => LibraryReceiver;
export const Transmitter = LibraryTransmitterClass as unknown as new (socket: Socket) => LibraryTransmitter;
export const Connector = LibraryConnectorClass as unknown as new (options: ConnectorOptions) => LibraryConnector;
export const Channel = LibraryChannelClass as unknown as new (connector: LibraryConnector) => LibraryChannel;
