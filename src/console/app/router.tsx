import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { SignInPage } from '../pages/sign-in/sign-in-page.tsx'
import { NotFound } from '../shell/not-found.tsx'
import { rootRoute, shellRoute } from '../shell/root.tsx'

/** Page of the shell at an address, loaded on first use; `name` is its component in the loaded module. */
const page = <Name extends string>(path: string, load: () => Promise<Record<NoInfer<Name>, () => ReactNode>>, name: Name) =>
  createRoute({ getParentRoute: () => shellRoute, path, component: lazyRouteComponent(load, name) })

const PAGES = [
  page('/console', () => import('../pages/home/home.tsx'), 'HomePage'),
  page('/console/pods', () => import('../pages/pods/pods.tsx'), 'PodsPage'),
  page('/console/pods/new', () => import('../pages/pods/create/new-pod.tsx'), 'NewPodPage'),
  page('/console/pods/$id', () => import('../pages/pods/pod/pod.tsx'), 'PodPage'),
  page('/console/clusters', () => import('../pages/clusters/clusters.tsx'), 'ClustersPage'),
  page('/console/clusters/new', () => import('../pages/clusters/new-cluster.tsx'), 'NewClusterPage'),
  page('/console/clusters/$id', () => import('../pages/clusters/cluster.tsx'), 'ClusterPage'),
  page('/console/endpoints', () => import('../pages/endpoints/endpoints.tsx'), 'EndpointsPage'),
  page('/console/endpoints/new', () => import('../pages/endpoints/new/new-endpoint.tsx'), 'NewEndpointPage'),
  page('/console/endpoints/$id', () => import('../pages/endpoints/endpoint.tsx'), 'EndpointPage'),
  page('/console/endpoints/$id/workers/$workerId', () => import('../pages/endpoints/workers/worker.tsx'), 'WorkerPage'),
  page('/console/jobs', () => import('../pages/jobs/jobs-page.tsx'), 'JobsPage'),
  page('/console/endpoints/$id/jobs/$jobId', () => import('../pages/jobs/job/job.tsx'), 'JobPage'),
  page('/console/volumes', () => import('../pages/resources/volumes.tsx'), 'VolumesPage'),
  page('/console/templates', () => import('../pages/resources/templates.tsx'), 'TemplatesPage'),
  page('/console/templates/$id', () => import('../pages/resources/template.tsx'), 'TemplatePage'),
  page('/console/registries', () => import('../pages/resources/registries.tsx'), 'RegistriesPage'),
  page('/console/secrets', () => import('../pages/resources/secrets.tsx'), 'SecretsPage'),
  page('/console/logs', () => import('../pages/logs/logs-page.tsx'), 'LogsPage'),
  page('/console/usage', () => import('../pages/usage/usage.tsx'), 'UsagePage'),
  page('/console/keys', () => import('../pages/account/keys.tsx'), 'KeysPage'),
  page('/console/ssh-keys', () => import('../pages/account/ssh-keys.tsx'), 'SshKeysPage'),
  page('/console/team', () => import('../pages/account/team.tsx'), 'TeamPage'),
  page('/console/webhooks', () => import('../pages/account/webhooks.tsx'), 'WebhooksPage'),
  page('/console/audit', () => import('../pages/account/audit.tsx'), 'AuditPage'),
  page('/console/operator/hosts', () => import('../pages/operator/hosts.tsx'), 'HostsPage'),
  page('/console/operator/hosts/$id', () => import('../pages/operator/host.tsx'), 'HostPage'),
  page('/console/operator/add-machine', () => import('../pages/operator/add-machine.tsx'), 'AddMachinePage'),
  page('/console/operator/accounts', () => import('../pages/operator/accounts.tsx'), 'AccountsPage'),
  page('/console/operator/accounts/$id', () => import('../pages/operator/account/account.tsx'), 'AccountPage'),
  page('/console/operator/catalog', () => import('../pages/operator/catalog/catalog.tsx'), 'CatalogPage'),
  page('/console/operator/plane', () => import('../pages/operator/plane.tsx'), 'PlanePage'),
  page('/console/operator/waiting', () => import('../pages/operator/waiting.tsx'), 'WaitingPage'),
  page('/console/device', () => import('../pages/sign-in/device.tsx'), 'DevicePage'),
]

const signIn = createRoute({ getParentRoute: () => rootRoute, path: '/console/sign-in', component: SignInPage })

export const router = createRouter({
  routeTree: rootRoute.addChildren([signIn, shellRoute.addChildren(PAGES)]),
  defaultNotFoundComponent: NotFound,
  defaultPreload: 'intent',
  scrollRestoration: true,
})
