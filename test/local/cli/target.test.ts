import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig, readCredentials, writeConfig, writeCredential } from '../../../src/cli/config/files.ts'
import { findLocalPlane } from '../../../src/cli/config/local-plane.ts'
import { resolveTarget, type Sources } from '../../../src/cli/config/target.ts'
import { afterEach, beforeEach, describe, expect, it } from '../../support/unit.ts'

const LOCAL = { url: 'http://127.0.0.1:8787', apiKey: 'pp_local', endpointId: 'e1', operatorKey: 'ppo_local' }
const SOURCES: Sources = {
  flags: {},
  env: {},
  config: { contexts: { lab: { url: 'https://lab.example.com' }, prod: { url: 'https://plane.example.com' } } },
  credentials: { lab: 'pp_lab', prod: 'pp_prod' },
  local: LOCAL,
}
const of = (change: Partial<Sources>) => {
  const { url, key } = resolveTarget({ ...SOURCES, ...change })
  return { url, key }
}

describe('the choice of the plane', () => {
  it('[CMD-6] flag, environment, configuration, local plane, in this order', () => {
    const config = { ...SOURCES.config, current: 'prod' }
    const env = { PODPLANE_URL: 'https://env.example.com', PODPLANE_API_KEY: 'pp_env', PODPLANE_CONTEXT: 'lab' }
    expect(of({ config, env, flags: { url: 'https://flag.example.com' } })).toEqual({ url: 'https://flag.example.com', key: 'pp_env' })
    expect(of({ config, env, flags: { context: 'lab' } })).toEqual({ url: 'https://lab.example.com', key: 'pp_lab' })
    expect(of({ config, env })).toEqual({ url: 'https://env.example.com', key: 'pp_env' })
    expect(of({ config, env: { PODPLANE_CONTEXT: 'lab' } })).toEqual({ url: 'https://lab.example.com', key: 'pp_lab' })
    expect(of({ config })).toEqual({ url: 'https://plane.example.com', key: 'pp_prod' })
    expect(of({})).toEqual({ url: LOCAL.url, key: LOCAL.apiKey })
    expect(() => of({ local: undefined })).toThrow('no plane is configured, and none runs here')
  })

  it('[CMD-6] a key goes to its own address alone', () => {
    expect(of({ flags: { url: 'https://stranger.example.com' } })).toEqual({ url: 'https://stranger.example.com', key: undefined })
    expect(of({ flags: { url: 'https://lab.example.com/' } })).toEqual({ url: 'https://lab.example.com', key: 'pp_lab' })
    expect(of({ flags: { url: 'http://127.0.0.1:9999' } })).toEqual({ url: 'http://127.0.0.1:9999', key: undefined })
    expect(resolveTarget({ ...SOURCES, flags: { url: 'https://lab.example.com' } }).operatorKey).toBeUndefined()
  })

  it('[CMD-6] keys and addresses of other platforms are not read', () => {
    const env = { RUNPOD_API_KEY: 'rpa_foreign', RUNPOD_API_URL: 'https://foreign.example.com' }
    expect(of({ env })).toEqual({ url: LOCAL.url, key: LOCAL.apiKey })
  })

  it('[CMD-6] lists the contexts, and names an invalid address', () => {
    expect(() => of({ flags: { context: 'nope' } })).toThrow('there is no context nope (--context)')
    expect(() => of({ env: { PODPLANE_URL: 'plane.example.com' } })).toThrow(
      'PODPLANE_URL: plane.example.com is not an http or https address',
    )
  })
})

describe('files', () => {
  let home = ''
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'podplane-home-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  it('[CMD-6] contexts are stored in config.toml, keys in credentials.json, readable by the user alone', () => {
    const io = { env: { XDG_CONFIG_HOME: join(home, 'xdg') }, home }
    expect([readConfig(io), readCredentials(io)]).toEqual([{ contexts: {} }, {}])
    writeConfig(io, { current: 'lab', contexts: { lab: { url: 'https://lab.example.com' } } })
    writeCredential(io, 'lab', 'pp_lab')
    writeCredential(io, 'other', 'pp_other')
    writeCredential(io, 'other', undefined)
    expect([readConfig(io), readCredentials(io)]).toEqual([
      { current: 'lab', contexts: { lab: { url: 'https://lab.example.com' } } },
      { lab: 'pp_lab' },
    ])
    const path = join(home, 'xdg/podplane/credentials.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    chmodSync(path, 0o644)
    writeCredential(io, 'lab', 'pp_new')
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('[CMD-6] a damaged file is named with its fault', () => {
    const io = { env: {}, home }
    mkdirSync(join(home, '.config/podplane'), { recursive: true })
    writeFileSync(join(home, '.config/podplane/config.toml'), '[contexts.lab]\nurl = 3\n')
    expect(() => readConfig(io)).toThrow('config.toml: contexts.lab needs a url')
    writeFileSync(join(home, '.config/podplane/config.toml'), '[contexts.lab\n')
    expect(() => readConfig(io)).toThrow(/config\.toml is damaged/)
  })

  it('[CMD-12] the local plane is found from subdirectories, if it belongs to this machine', () => {
    mkdirSync(join(home, '.podplane'))
    mkdirSync(join(home, 'examples/chat'), { recursive: true })
    const write = (demo: object) => writeFileSync(join(home, '.podplane/demo.json'), JSON.stringify(demo))
    write(LOCAL)
    expect(findLocalPlane({ env: {}, cwd: join(home, 'examples/chat') })).toEqual(LOCAL)
    expect(findLocalPlane({ env: { PODPLANE_DATA: join(home, '.podplane') }, cwd: '/' })).toEqual(LOCAL)
    expect(findLocalPlane({ env: { PODPLANE_DATA: join(home, 'elsewhere') }, cwd: home })).toBeUndefined()
    write({ ...LOCAL, url: 'https://evil.example.com' })
    expect(findLocalPlane({ env: {}, cwd: home })).toBeUndefined()
    write({ url: 'http://127.0.0.1:8787' })
    expect(findLocalPlane({ env: {}, cwd: home })).toBeUndefined()
  })
})
