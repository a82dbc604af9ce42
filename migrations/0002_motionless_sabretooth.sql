CREATE TABLE `pod_usage` (
	`pod_id` text NOT NULL,
	`version` integer NOT NULL,
	`team_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`cloud` text NOT NULL,
	`gpu_type_id` text,
	`gpu_count` integer NOT NULL,
	`vcpus` real NOT NULL,
	`disk_gb` integer NOT NULL,
	`price_per_hour` real NOT NULL,
	PRIMARY KEY(`pod_id`, `version`)
);
--> statement-breakpoint
CREATE INDEX `pod_usage_team_ended` ON `pod_usage` (`team_id`,`ended_at`);--> statement-breakpoint
CREATE TABLE `pods` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`status` text NOT NULL,
	`version` integer NOT NULL,
	`generation` integer NOT NULL,
	`spec` text NOT NULL,
	`keeps_disk` integer NOT NULL,
	`disk_stale` integer NOT NULL,
	`host_lost` integer NOT NULL,
	`status_reason` text,
	`locked` integer NOT NULL,
	`host_id` text NOT NULL,
	`data_center_id` text NOT NULL,
	`cuda_version` text,
	`vcpus` real NOT NULL,
	`memory_mb` integer NOT NULL,
	`public_ip` text,
	`ports` text NOT NULL,
	`ssh_suffix` text NOT NULL,
	`price_per_hour` real NOT NULL,
	`template_id` text,
	`network_volume_id` text,
	`global_volume_id` text,
	`registry_id` text,
	`cluster_id` text,
	`started_at` integer,
	`changed_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `pods_team_created` ON `pods` (`team_id`,`created_at`,`id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_host` ON `pods` (`host_id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_network_volume` ON `pods` (`network_volume_id`) WHERE "pods"."network_volume_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_global_volume` ON `pods` (`global_volume_id`) WHERE "pods"."global_volume_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_template` ON `pods` (`template_id`) WHERE "pods"."template_id" IS NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_registry` ON `pods` (`registry_id`) WHERE "pods"."registry_id" IS NOT NULL;