// Owns which of etcd's members is asked: one at a time, and the next one after an error. It also
// owns how long an answer is waited for, and the token that etcd gives to a user. It knows no gRPC.
//
// A call is sent once, unless etcd says that the token ran out; then etcd has not looked at the
// request, and it is sent again with a new token.

import { EtcdError } from './etcd.ts';
import type { Method, StreamMethod } from './wire.ts';
import { etcdError, isTokenOld, late, type WireError } from './wire-errors.ts';

export interface Call {
  readonly answer: Promise<object>;
  cancel(): void;
}

export interface Stream {
  write(request: object): unknown;
  cancel(): void;
  on(event: 'data', listener: (answer: object) => void): unknown;
  on(event: 'error', listener: (error: WireError) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
}

export interface Member {
  readonly url: string;
  call(method: Method, request: object, token: string | undefined): Call;
  stream(method: StreamMethod, token: string | undefined): Stream;
  /** Of the database, where the member's status lacks it; undefined: not known. Never rejects. */
  quota(): Promise<number | undefined>;
  close(): void;
}

export interface User {
  readonly name: string;
  readonly password: string;
}

export class Members {
  readonly callMs: number;
  private readonly members: readonly Member[];
  private readonly user: User | undefined;
  private at = 0;
  private renewed: Promise<string> | undefined;
  private isClosed = false;

  constructor(members: readonly Member[], callMs: number, user: User | undefined) {
    this.members = members;
    this.callMs = callMs;
    this.user = user;
  }

  /** @throws EtcdError when it is closed. */
  get current(): Member {
    if (this.isClosed) throw new EtcdError('no_answer', 'the connection was closed');
    const member = this.members[this.at % this.members.length];
    if (member === undefined) throw new EtcdError('no_answer', 'no member of etcd is known');
    return member;
  }

  /** Whoever else met the same error may have moved on already. */
  moveOnFrom(member: Member): void {
    if (!this.isClosed && this.current === member) this.at += 1;
  }

  /** @throws EtcdError */
  async ask<T extends object>(method: Method, request: object): Promise<T> {
    for (let isRenewed = false; ; isRenewed = true) {
      const token = await this.token();
      const member = this.current;
      try {
        return (await this.raced(member.call(method, request, token))) as T;
      } catch (error) {
        const said = error as WireError;
        if (this.user !== undefined && !isRenewed && isTokenOld(said)) this.forgetToken();
        else throw this.told(member, said);
      }
    }
  }

  /** @param movesOn false: the answer of this member alone counts. @throws EtcdError */
  async inTime(member: Member, call: Call, movesOn = true): Promise<object> {
    try {
      return await this.raced(call);
    } catch (error) {
      const said = error as WireError;
      if (isTokenOld(said)) this.forgetToken();
      throw this.told(member, said, movesOn);
    }
  }

  /** @returns undefined without a user. @throws EtcdError */
  token(): Promise<string | undefined> {
    if (this.user === undefined) return Promise.resolve(undefined);
    this.renewed ??= this.authenticated(this.user);
    return this.renewed;
  }

  /** The next call asks for a new one. */
  forgetToken(): void {
    this.renewed = undefined;
  }

  /** All of them, for a call that goes to each. */
  get all(): readonly Member[] {
    return this.members;
  }

  close(): void {
    this.isClosed = true;
    for (const member of this.members) member.close();
  }

  /** @throws WireError */
  private async raced({ answer, cancel }: Call): Promise<object> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(late()), this.callMs);
    });
    try {
      return await Promise.race([answer, tooLate]);
    } catch (error) {
      answer.catch(() => {});
      cancel();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private told(member: Member, said: WireError, movesOn = true): EtcdError {
    const error = etcdError(said, member.url);
    if (movesOn && error.code === 'no_answer') this.moveOnFrom(member);
    return error;
  }

  private async authenticated({ name, password }: User): Promise<string> {
    const member = this.current;
    try {
      const call = member.call('Authenticate', { name, password }, undefined);
      return ((await this.raced(call)) as { readonly token: string }).token;
    } catch (error) {
      this.renewed = undefined;
      throw this.told(member, error as WireError);
    }
  }
}
