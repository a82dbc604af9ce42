import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

export const logRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/console/logs',
    component: lazyRouteComponent(() => import('./logs-page.tsx'), 'LogsPage'),
  }),
]
