import { type Step, singular } from './plan.ts'
import type { Price } from './price.ts'

/** Step as programs read it. */
export interface ShownStep {
  action: Step['action']
  kind: Step['kind']
  name: string
  id: string | null
  changes: { member: string; from: unknown; to: unknown }[]
  usdPerHour: number | null
  note: string | null
}

/** Values of variables may be passwords, so they are not shown. */
const HIDDEN = '(hidden)'

/** Returns a step as programs read it, with its price in USD per hour and without the values of variables. */
export function shownStep(step: Step, price: Price): ShownStep {
  const { action, kind, name, id } = step
  const changes = step.changes.map(({ member, from, to }) =>
    member === 'env' ? { member, from: hidden(from), to: hidden(to) } : { member, from, to },
  )
  return { action, kind, name, id, changes, usdPerHour: price.usdPerHour, note: step.reason ?? price.note ?? null }
}

function hidden(variables: unknown): unknown {
  return variables === null || typeof variables !== 'object'
    ? variables
    : Object.fromEntries(Object.keys(variables).map((name) => [name, HIDDEN]))
}

const SIGNS: Readonly<Record<Step['action'], string>> = { create: '+', update: '~', keep: '=', refuse: '!' }

/** Plan as text for users. */
export function formatPlan(steps: readonly ShownStep[]): string {
  const lines = steps.flatMap((step) => {
    const id = step.id === null ? '' : ` (${step.id})`
    const price = step.usdPerHour === null ? '' : `  up to $${step.usdPerHour.toFixed(3)}/h`
    const head = `${SIGNS[step.action]} ${singular(step.kind)} ${step.name}${id}${price}`
    const shown = step.action === 'keep' ? [] : step.changes.map((change) => `    ${changeText(change, step.action)}`)
    return [head, ...shown, ...(step.note === null ? [] : [`    ${step.note}`])]
  })
  return `${lines.join('\n')}\n`
}

function changeText({ member, from, to }: ShownStep['changes'][number], action: Step['action']): string {
  return action === 'create' ? `${member} = ${JSON.stringify(to)}` : `${member}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`
}

/** One-line summary of the plan. */
export function summary(steps: readonly ShownStep[]): string {
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length
  return `${count('create')} to create, ${count('update')} to change, ${count('keep')} unchanged`
}
