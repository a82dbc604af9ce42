import { normalRegistryHost, REGISTRY_HOST, registryHostOf } from '../../src/contract/registry-host.ts'
import { expect, it } from '../support/unit.ts'

it('[REG-20] the registry of an image is read as the engines read it', () => {
  const images: Record<string, string> = {
    nginx: 'docker.io',
    'octo/app:1': 'docker.io',
    'docker.io/octo/app': 'docker.io',
    'index.docker.io/octo/app': 'docker.io',
    'registry-1.docker.io/octo/app': 'docker.io',
    'ghcr.io/octo/app': 'ghcr.io',
    'GHCR.io/octo/app': 'ghcr.io',
    'ghcr.io:443/octo/app': 'ghcr.io',
    'ghcr.io:8443/octo/app': 'ghcr.io:8443',
    'localhost/app': 'localhost',
    'host:5000/app': 'host:5000',
    '[::1]:5000/app': '[::1]:5000',
    'nginx:1.27@sha256:0': 'docker.io',
  }
  for (const [image, host] of Object.entries(images)) expect(registryHostOf(image), image).toBe(host)
  expect(normalRegistryHost('Index.Docker.io')).toBe('docker.io')
})

it('[REG-20] a host is a name or an address with perhaps a port', () => {
  for (const good of ['ghcr.io', 'localhost', 'a.b:5000', '127.0.0.1:5000', '[::1]:5000', 'A.b'])
    expect(REGISTRY_HOST.test(good), good).toBe(true)
  const bad = ['', 'https://ghcr.io', 'ghcr.io/', 'ghcr.io/a', 'a b', 'a:', 'a:123456', '-a', 'a@b', 'a\n', 'a..b', '::1']
  for (const text of bad) expect(REGISTRY_HOST.test(text), text).toBe(false)
})
