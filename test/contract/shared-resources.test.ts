import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { BUDGET_NAMES, SHARED_BUDGETS } from '../../src/contract/accounts/budgets.ts'
import { CHARGED, SHARED_RESOURCES, type SharedResource } from '../../src/contract/shared-resources.ts'
import { D1, OBJECTS } from '../support/cost/table-bounds.ts'
import { describe, expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const ROWS: [string, SharedResource][] = Object.entries(SHARED_RESOURCES)
const filesOf = ({ at }: SharedResource) => at.map((place) => place.split('#')[0] ?? '')

/** Tables that no account can fill. */
const NOT_OF_ACCOUNTS: Readonly<Record<string, string>> = {
  join_tokens: 'the operator makes them',
  pod_usage: 'nothing writes it any more',
  'host/assertions': 'a machine that has been let in; 100 are remembered',
}

/** Names of constants that bound how many objects of a kind exist at a time. */
const BOUND =
  /^(?:export )?const ((?:MAX_(?:[A-Z]+_)*(?:STREAMS|SESSIONS|CHANNELS|WAITING|FOLLOWERS|READS|RUNNING|CONNECTIONS|IMAGES|CALLS|HANDLES|STARTS|ANONYMOUS|HELD|PULLS|DEVICE_LOGINS|LARGE|OF_ONE|OPEN|SOCKETS|VISITS)|(?:[A-Z]+_)*(?:STREAMS|SESSIONS|IMAGES|CALLS|CONNECTIONS|PULLS)_MAX))\b/gm
/** Such constants in files that no row names, each with the reason why its object takes nothing from another account. */
const REVIEWED: Readonly<Record<string, string>> = {
  'durable-objects/endpoint/client/bulk.ts#MAX_RUNNING': 'of one endpoint',
  'durable-objects/pod-log/archive.ts#MAX_HELD': 'of one log',
  'durable-objects/pod-log/log-store.ts#MAX_STREAMS': 'of one pod',
  'durable-objects/webhook/delivery-store.ts#MAX_WAITING': 'of one account',
  'src/domain/session/console.ts#MAX_CONSOLE_SESSIONS': 'of one user; a new one ends the oldest',
  'src/host-agent/engine/caller.ts#CALLS_MAX': 'of the agent itself: a few for each container, and containers have places',
  'src/host-agent/network/host-network.ts#CONNECTIONS_MAX': 'the name of a file of the kernel',
  'src/ssh-proxy/session.ts#MAX_CHANNELS': 'of one connection',
  'src/ssh-proxy/sftp/serve.ts#MAX_HANDLES': 'of one session',
}
const ROOMS = [
  'src/domain',
  'src/effects',
  'src/host-agent',
  'src/host-protocol',
  'src/http',
  'src/services',
  'src/ssh-proxy',
  'durable-objects',
]

function boundsInCode(): string[] {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  )
  return files.flatMap((file) => [...read(file).matchAll(BOUND)].map(([, name]) => `${file}#${name}`))
}

describe('[SHR-5] the table of resources that accounts share', () => {
  it.each(ROWS)('%s: a person, an account or an address is charged, and the place of the refusal exists', (_name, row) => {
    expect(CHARGED).toContain(row.charged)
    for (const text of [row.share, row.reserve]) expect(text).not.toBe('')
    for (const place of row.at) {
      const [file = '', symbol] = place.split('#')
      expect(existsSync(join(ROOT, file)), file).toBe(true)
      if (symbol !== undefined) expect(read(file)).toMatch(new RegExp(`^export (?:async )?(?:const|function|class) ${symbol}\\b`, 'm'))
    }
  })

  it.each(ROWS)('%s: its rules exist, and the place of the refusal names one', (_name, row) => {
    const spec = read('docs/SPEC.md')
    expect(row.rules.filter((rule) => !spec.includes(`| ${rule} |`))).toEqual([])
    const code = filesOf(row).map(read).join('\n')
    expect(row.rules.some((rule) => new RegExp(`\\b${rule}\\b`).test(code))).toBe(true)
  })

  it('has every budget once, and charges the person where organizations share it', () => {
    const named = ROWS.flatMap(([, { budgets = [] }]) => budgets)
    expect(named.toSorted()).toEqual(BUDGET_NAMES.toSorted())
    for (const [name, { budgets = [], charged }] of ROWS)
      for (const budget of budgets)
        expect([name, budget, charged === 'person']).toEqual([name, budget, SHARED_BUDGETS.has(budget) || budget === 'organizations'])
  })

  it('has every table without another bound: no other row, no budget, and not the operator', () => {
    const all = {
      ...D1,
      ...Object.fromEntries(
        Object.entries(OBJECTS).flatMap(([place, tables]) => Object.entries(tables).map(([name, bound]) => [`${place}/${name}`, bound])),
      ),
    }
    const wanted = Object.entries(all)
      .filter(([name, bound]) => ('removed' in bound || 'grows' in bound) && !(name in NOT_OF_ACCOUNTS))
      .map(([name]) => name)
    const named: string[] = ROWS.flatMap(([, { tables = [] }]) => tables)
    expect(wanted.filter((name) => !named.includes(name))).toEqual([])
    expect([...named, ...Object.keys(NOT_OF_ACCOUNTS)].filter((name) => !(name in all))).toEqual([])
  })

  it('has the file of every bound on concurrent objects, or the reason why they take nothing from others', () => {
    const known = new Set(ROWS.flatMap(([, row]) => filesOf(row)))
    const bounds = boundsInCode()
    expect(bounds.length).toBeGreaterThan(15)
    expect(bounds.filter((bound) => !known.has(bound.split('#')[0] ?? '') && !(bound in REVIEWED))).toEqual([])
    expect(Object.keys(REVIEWED).filter((bound) => !bounds.includes(bound))).toEqual([])
  })

  it('is in docs/SECURITY.md, row by row', () => {
    const security = read('docs/SECURITY.md')
    const lines = ROWS.map(
      ([name, { charged, share, reserve, rules }]) => `| ${name} | ${charged} | ${share} | ${reserve} | ${rules.join(', ')} |`,
    )
    expect(lines.filter((line) => !security.includes(line))).toEqual([])
    expect(security.split('\n').filter((line) => /^\| .* \| (?:person|account|address) \| /.test(line))).toHaveLength(lines.length)
  })
})
