import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '../support/unit.ts'

interface Locked {
  resolved?: string
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
  /** A package bundled in another one, whose bytes include it. */
  inBundle?: boolean
}
interface Manifest {
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  allowScripts?: Record<string, boolean>
}

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'))
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

/** Folders with a manifest of their own. */
const FOLDERS = ['', 'sdk/', 'test/e2e/clients/']

describe.each(FOLDERS)('[L11][DEV-11] every package installed in "%s"', (folder) => {
  const manifest: Manifest = read(`${folder}package.json`)
  const locked = Object.entries<Locked>(read(`${folder}package-lock.json`).packages).filter(([path]) => path !== '')

  it('is pinned by its bytes: each package of the lock file has a SHA-512', () => {
    expect(locked.length).toBeGreaterThan(20)
    expect(
      locked.filter(([, { integrity, link, inBundle }]) => !link && !inBundle && !/^sha512-[\w+/]{86}==$/.test(integrity ?? '')),
    ).toEqual([])
  })

  it('comes from the public registry alone', () => {
    const elsewhere = locked.filter(([, { resolved }]) => resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/'))
    expect(elsewhere).toEqual([])
  })

  it('is named in exact versions', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([])
  })

  it('runs no install script that was not reviewed', () => {
    const scripts = new Set(locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path)))
    expect([...scripts].filter((name) => manifest.allowScripts?.[name] === undefined)).toEqual([])
  })
})
