import type { Lab } from './lab.ts'
import { launchPlane, type Plane, type PlaneOptions, readyPlane, START_LIMIT_MS } from './plane.ts'
import { type Row, span } from './report.ts'

/** Starts a plane; if it hangs, kills it and returns undefined. */
export async function startOnce(lab: Lab, options: PlaneOptions): Promise<Plane | undefined> {
  const program = launchPlane(lab, options)
  const plane = await readyPlane(program, options)
  if (plane === undefined) {
    lab.say(`not ready: ${program.output().trim().split('\n').at(-1)?.slice(0, 200) || 'it says nothing'}`)
    await lab.killAll()
  }
  return plane
}

/** Counts the starts that were ready, with their times, and those that were not. */
export class Starts {
  private readonly took: number[] = []
  private hung = 0

  /** Records a start; returns whether it was ready. */
  note(plane: Plane | undefined): boolean {
    if (plane === undefined) this.hung += 1
    else this.took.push(plane.readyMs)
    return plane !== undefined
  }

  text(): string {
    return `${this.hung} not ready, ${this.took.length} ready (${span(this.took)})`
  }

  row(what: string): Row {
    const total = this.took.length + this.hung
    const note = this.hung > 0 ? `of ${total} are not ready within ${START_LIMIT_MS / 1000} s, or end` : ''
    return { what, tried: String(total), wrong: { count: this.hung, note }, recovered: span(this.took) }
  }
}
