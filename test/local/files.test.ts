import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOperatorKey } from '../../src/domain/key-text.ts'
import { readHostIdentity } from '../../src/host-agent/plane/enrolment.ts'
import { HostKey } from '../../src/host-agent/plane/host-key.ts'
import {
  loadSecrets,
  openDataDir,
  readDemoAccount,
  readDemoFile,
  removeDemoFile,
  writeDemoAccount,
  writeDemoFile,
} from '../../src/local/data-dir.ts'
import { serveAsset } from '../../src/local/plane/assets.ts'
import { OperatorError } from '../../src/node/fail.ts'
import { afterEach, beforeEach, describe, expect, it } from '../support/unit.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'podplane-local-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('static assets', () => {
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    serveAsset(join(directory, 'assets'), { method, url: `http://127.0.0.1${path}`, headers: new Headers(headers) })

  beforeEach(() => {
    mkdirSync(join(directory, 'assets/guide'), { recursive: true })
    writeFileSync(join(directory, 'assets/app.js'), 'let a')
    writeFileSync(join(directory, 'assets/docs.html'), '<p>')
    writeFileSync(join(directory, 'assets/guide/index.html'), '<b>')
    writeFileSync(join(directory, 'secrets.json'), '{}')
  })

  it('are served with their type and a validator', async () => {
    const asset = await get('/app.js')
    expect(asset).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } })
    expect(Buffer.from(asset.body ?? []).toString()).toBe('let a')
    const again = await get('/app.js', { 'if-none-match': asset.headers.etag ?? '' })
    expect(again).toMatchObject({ status: 304, body: null })
  })

  it('have pretty addresses for pages', async () => {
    expect((await get('/docs')).headers['content-type']).toBe('text/html; charset=utf-8')
    expect((await get('/guide/')).status).toBe(200)
    expect((await get('/guide')).status).toBe(200)
  })

  it('answer HEAD without a body and nothing but GET and HEAD', async () => {
    expect(await get('/app.js', {}, 'HEAD')).toMatchObject({ status: 200, body: null })
    expect(await get('/app.js', {}, 'POST')).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  })

  it('cannot leave their directory', async () => {
    for (const path of [
      '/../secrets.json',
      '/..%2fsecrets.json',
      '/%2e%2e/secrets.json',
      '/guide/..%2f..%2fsecrets.json',
      '/%00',
      '/%',
      '/none',
    ]) {
      expect(await get(path), path).toMatchObject({ status: 404, body: null })
    }
  })
})

function thrownBy(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('the data directory', () => {
  const modeOf = (path: string) => statSync(path).mode & 0o777

  it('belongs to its owner alone', () => {
    const dataDir = openDataDir(join(directory, 'data'))
    loadSecrets(dataDir)
    expect(modeOf(dataDir.path)).toBe(0o700)
    expect(modeOf(join(dataDir.path, 'secrets.json'))).toBe(0o600)
  })

  it('keeps its secrets, which differ from those of another one', () => {
    const first = openDataDir(join(directory, 'first'))
    const secrets = loadSecrets(first)
    expect(isOperatorKey(secrets.OPERATOR_KEY)).toBe(true)
    expect(loadSecrets(first)).toEqual(secrets)
    const others = Object.values(loadSecrets(openDataDir(join(directory, 'second'))))
    expect(Object.values(secrets).filter((secret) => others.includes(secret))).toEqual([])
  })

  it('[DUR-5] refuses damaged secrets instead of making new ones, which would void every key, and names the loss', () => {
    const dataDir = openDataDir(directory)
    for (const text of ['{"OPERATOR_KEY":"x"}', '{"OPERATOR', '']) {
      writeFileSync(join(directory, 'secrets.json'), text)
      const said = thrownBy(() => loadSecrets(dataDir))
      expect(said).toMatch(/^\S+\/secrets\.json is damaged; it holds the operator key, the pepper that verifies all API keys, .* Database,/)
      expect(said).toMatch(/ queues and volumes are intact, .* Restore the file from a copy\. Without a copy .* start again; /)
      expect(readFileSync(join(directory, 'secrets.json'), 'utf8')).toBe(text)
    }
  })

  it.each(['', '{"kty":', 'null'])('[DUR-5] holds a host key that is not replaced when it is damaged: %j', async (text) => {
    writeFileSync(join(directory, 'host-key.json'), text)
    await expect(HostKey.load(directory)).rejects.toThrow(
      /host-key\.json is damaged; it holds the key that identifies this host to the plane.* containers keep running .* new --token .* another host/,
    )
    expect(readFileSync(join(directory, 'host-key.json'), 'utf8')).toBe(text)
  })

  it.each(['', '{"hostId":"h"'])('[DUR-5] holds the name of a host, and a damaged one does not count as none: %j', (text) => {
    writeFileSync(join(directory, 'host.json'), text)
    const said = thrownBy(() => readHostIdentity(directory))
    expect(said).toMatch(/host\.json is damaged; .* its pods and volumes are not lost, .* podplane admin hosts list shows$/)
    // Written as in the error message, it is a host again.
    const example = /'(\{.*\})'/.exec(said)?.[1] ?? ''
    writeFileSync(join(directory, 'host.json'), example)
    expect(readHostIdentity(directory)).toEqual({ hostId: '<id>', epoch: 1, dataCenterId: '<data center>', planeUrl: '<address>' })
  })

  it('[DUR-5] reports that a damaged demo account is forgotten only here', () => {
    const dataDir = openDataDir(directory)
    writeDemoAccount(dataDir, { apiKey: 'k', endpointId: 'e' })
    expect(readDemoAccount(dataDir)).toEqual({ apiKey: 'k', endpointId: 'e' })
    writeFileSync(join(directory, 'demo-account.json'), '')
    expect(thrownBy(() => readDemoAccount(dataDir))).toMatch(
      /demo-account\.json is damaged; only the local copy of the key .* Remove the file and start again/,
    )
  })

  it('keeps the mode of a directory that others use, and makes an empty one private', () => {
    chmodSync(directory, 0o755)
    openDataDir(directory)
    expect(modeOf(directory)).toBe(0o700)
    mkdirSync(join(directory, 'shared'), { mode: 0o755 })
    writeFileSync(join(directory, 'shared/foreign.txt'), '')
    openDataDir(join(directory, 'shared'))
    expect(modeOf(join(directory, 'shared'))).toBe(0o755)
    expect(modeOf(join(directory, 'shared/plane'))).toBe(0o700)
  })

  it('is refused by name when it cannot be made', () => {
    writeFileSync(join(directory, 'file'), '')
    for (const path of [join(directory, 'file'), join(directory, 'file/below'), '/proc/podplane/data']) {
      expect(() => openDataDir(path), path).toThrow(`the data directory (PODPLANE_DATA) ${path} cannot be used: `)
    }
  })

  it('holds demo.json, private, and without a draft left over', () => {
    const dataDir = openDataDir(directory)
    const demo = { url: 'http://127.0.0.1:8787', apiKey: 'k', endpointId: 'e', operatorKey: 'o', podImage: 'builtin/idle' }
    writeDemoFile(dataDir, demo)
    expect(readDemoFile(directory)).toEqual(demo)
    expect(modeOf(join(directory, 'demo.json'))).toBe(0o600)
    expect(readdirSync(directory).filter((name) => /draft|tmp/.test(name))).toEqual([])
    removeDemoFile(dataDir)
    expect(readDemoFile(directory)).toBeUndefined()
  })
})
