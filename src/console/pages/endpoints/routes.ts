import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const endpointRoutes = [
  createRoute({
    getParentRoute: parent,
    path: '/console/endpoints',
    component: lazyRouteComponent(() => import('./endpoints.tsx'), 'EndpointsPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/endpoints/new',
    component: lazyRouteComponent(() => import('./new/new-endpoint.tsx'), 'NewEndpointPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/endpoints/$id',
    component: lazyRouteComponent(() => import('./endpoint.tsx'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/endpoints/$id/workers/$workerId',
    component: lazyRouteComponent(() => import('./workers/worker.tsx'), 'WorkerPage'),
  }),
]
