import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

export const clusterRoutes = [
  createRoute({
    getParentRoute: parent,
    path: '/console/clusters',
    component: lazyRouteComponent(() => import('./clusters.tsx'), 'ClustersPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/clusters/new',
    component: lazyRouteComponent(() => import('./new-cluster.tsx'), 'NewClusterPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/clusters/$id',
    component: lazyRouteComponent(() => import('./cluster.tsx'), 'ClusterPage'),
  }),
]
