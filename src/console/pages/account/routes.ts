import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const accountRoutes = [
  createRoute({ getParentRoute: parent, path: '/console/keys', component: lazyRouteComponent(() => import('./keys.tsx'), 'KeysPage') }),
  createRoute({
    getParentRoute: parent,
    path: '/console/ssh-keys',
    component: lazyRouteComponent(() => import('./ssh-keys.tsx'), 'SshKeysPage'),
  }),
  createRoute({ getParentRoute: parent, path: '/console/team', component: lazyRouteComponent(() => import('./team.tsx'), 'TeamPage') }),
  createRoute({
    getParentRoute: parent,
    path: '/console/webhooks',
    component: lazyRouteComponent(() => import('./webhooks.tsx'), 'WebhooksPage'),
  }),
  createRoute({ getParentRoute: parent, path: '/console/audit', component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditPage') }),
]
