import { Effects, type Tx } from '../../src/queue/tx.ts'
import { Turns } from '../clock/turns.ts'

interface PendingOperation {
  run: (tx: Tx) => unknown
  resolve: (value: unknown) => void
  reject: (error: unknown) => void
}

/** What stands around the operations of a commit. */
export interface CommitFrame<End> {
  storage: Pick<DurableObjectStorage, 'transactionSync'>
  /** What one operation, or an end of the frame, works with. */
  open(effects: Effects): Tx
  /** Inside the transaction, before the operations. */
  begin(tx: Tx): void
  /** Inside the transaction, after them. */
  end(tx: Tx): End
  /** Once all of it is durable. */
  perform(effects: Effects, end: End): void
  /** Where memory is before an operation. */
  mark(): number
  /** Rows were rolled back to where they were at a mark, and so is what memory knows. */
  reload(mark: number): void
  /** The same of the whole transaction, which is over. */
  abandon(): void
}

/**
 * The only way to change the rows of an object: operations that arrive together commit together (one flush for many), each in a savepoint
 * of its own so that a failing one undoes only itself; replies leave after the commit (adr/0002).
 */
export class GroupCommit<End> {
  private readonly frame: CommitFrame<End>
  private readonly turns = new Turns()
  private pending: PendingOperation[] = []

  constructor(frame: CommitFrame<End>) {
    this.frame = frame
  }

  /** Runs one operation in the next commit. Its result arrives once the commit is done; its throw undoes only itself. */
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
