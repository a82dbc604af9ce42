import { Effects, type Tx } from '../../../src/queue/tx.ts'
import { Turns } from '../../clock/turns.ts'

interface PendingOperation {
  run: (tx: Tx) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** Hooks around the operations of a commit. */
export interface CommitFrame<End> {
  storage: Pick<DurableObjectStorage, 'transactionSync'>
  /** The transaction handle for one operation, or for `begin` and `end`. */
  open(effects: Effects): Tx
  /** Runs inside the transaction, before the operations. */
  begin(tx: Tx): void
  /** Runs inside the transaction, after the operations. */
  end(tx: Tx): End
  /** Runs after the transaction. */
  perform(effects: Effects, end: End): void
  /** Mark of the state in memory before an operation. */
  mark(): number
  /** Restores the state in memory after a rollback of the rows to this mark. */
  reload(mark: number): void
  /** Restores the state in memory after a rollback of the whole transaction. */
  abandon(): void
}

/**
 * The only way to change the rows of an object. Operations that arrive together commit together (one flush for many), each in its own
 * savepoint, so that a failing one rolls back only itself. Replies leave after the commit (adr/0002).
 */
export class GroupCommit<End> {
  private readonly frame: CommitFrame<End>
  private readonly turns = new Turns()
  private pending: PendingOperation[] = []

  constructor(frame: CommitFrame<End>) {
    this.frame = frame
  }

  /** Runs one operation in the next commit. Resolves after the commit; an operation that throws rolls back only itself. */
  transact<T>(run: (tx: Tx) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.pending.push({ run, resolve: resolve as (value: unknown) => void, reject })
      if (this.pending.length === 1) this.turns.next(() => this.flush())
    })
  }

  private flush(): void {
    const { frame } = this
    const operations = this.pending
    this.pending = []
    const effects = new Effects()
    let outcomes: Outcome[]
    let end: End
    try {
      ;[outcomes, end] = frame.storage.transactionSync(() => {
        frame.begin(frame.open(effects))
        const ran = operations.map((operation) => this.runOne(operation, effects))
        return [ran, frame.end(frame.open(effects))] as const
      }) as [Outcome[], End]
    } catch (error) {
      frame.abandon()
      for (const operation of operations) operation.reject(error)
      return
    }
    frame.perform(effects, end)
    for (const [index, operation] of operations.entries()) {
      const outcome = outcomes[index]
      if (outcome?.ok) operation.resolve(outcome.value)
      else operation.reject(outcome?.value)
    }
  }

  private runOne(operation: PendingOperation, effects: Effects): Outcome {
    const own = new Effects()
    const mark = this.frame.mark()
    try {
      const value = this.frame.storage.transactionSync(() => operation.run(this.frame.open(own)))
      effects.merge(own)
      return { ok: true, value }
    } catch (error) {
      this.frame.reload(mark)
      return { ok: false, value: error }
    }
  }
}

interface Outcome {
  ok: boolean
  value: unknown
}
