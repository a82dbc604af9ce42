import { expect, it } from 'vitest'
import { paths } from '../../src/console/hooks/paths.ts'

it('[UI-2] bookmarked addresses of the console stay valid', () => {
  const all = Object.entries(paths).map(([name, make]) => [name, (make as (...ids: string[]) => string)('a b', 'c/d')])
  expect(Object.fromEntries(all)).toMatchInlineSnapshot(`
    {
      "account": "/console/operator/accounts/a%20b",
      "accounts": "/console/operator/accounts",
      "addMachine": "/console/operator/add-machine",
      "audit": "/console/audit",
      "catalog": "/console/operator/catalog",
      "cluster": "/console/clusters/a%20b",
      "clusters": "/console/clusters",
      "device": "/console/device",
      "endpoint": "/console/endpoints/a%20b",
      "endpoints": "/console/endpoints",
      "home": "/console",
      "host": "/console/operator/hosts/a%20b",
      "hosts": "/console/operator/hosts",
      "job": "/console/endpoints/a%20b/jobs/c%2Fd",
      "jobs": "/console/jobs",
      "keys": "/console/keys",
      "logs": "/console/logs",
      "newCluster": "/console/clusters/new",
      "newEndpoint": "/console/endpoints/new",
      "newPod": "/console/pods/new",
      "plane": "/console/operator/plane",
      "pod": "/console/pods/a%20b",
      "pods": "/console/pods",
      "podsOf": "/console/pods?state=a b",
      "registries": "/console/registries",
      "secrets": "/console/secrets",
      "signIn": "/console/sign-in",
      "sshKeys": "/console/ssh-keys",
      "team": "/console/team",
      "template": "/console/templates/a%20b",
      "templates": "/console/templates",
      "usage": "/console/usage",
      "volumes": "/console/volumes",
      "waiting": "/console/operator/waiting",
      "webhooks": "/console/webhooks",
      "worker": "/console/endpoints/a%20b/workers/c%2Fd",
    }
  `)
})
