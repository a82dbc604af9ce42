CREATE TABLE `clusters` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`type` text NOT NULL,
	`gpu_type_id` text NOT NULL,
	`gpu_count_per_pod` integer NOT NULL,
	`pod_count` integer NOT NULL,
	`template_id` text,
	`data_center_id` text NOT NULL,
	`on_host_loss` text NOT NULL,
	`sealed_secret` text,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "clusters_pod_count" CHECK("clusters"."pod_count" BETWEEN 2 AND 250)
);
--> statement-breakpoint
CREATE INDEX `clusters_team_created` ON `clusters` (`team_id`,`created_at`,`id`) WHERE "clusters"."deleted_at" IS NULL;--> statement-breakpoint
CREATE INDEX `clusters_template` ON `clusters` (`template_id`) WHERE "clusters"."template_id" IS NOT NULL;--> statement-breakpoint
CREATE TABLE `overlays` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`kind` text NOT NULL,
	`owner_id` text NOT NULL,
	`slot` integer NOT NULL,
	`check_number` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `overlays_owner` ON `overlays` (`owner_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `overlays_slot` ON `overlays` (`kind`,`slot`);--> statement-breakpoint
ALTER TABLE `pods` ADD `cluster_rank` integer;--> statement-breakpoint
ALTER TABLE `pods` ADD `cluster_ip` text;--> statement-breakpoint
ALTER TABLE `pods` ADD `ready_generation` integer;--> statement-breakpoint
ALTER TABLE `pods` ADD `tried_hosts` text;--> statement-breakpoint
ALTER TABLE `pods` ADD `global_ip` text;--> statement-breakpoint
CREATE UNIQUE INDEX `pods_cluster_rank` ON `pods` (`cluster_id`,`cluster_rank`) WHERE "pods"."cluster_id" IS NOT NULL AND "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE UNIQUE INDEX `pods_global_ip` ON `pods` (`team_id`,`global_ip`) WHERE "pods"."global_ip" IS NOT NULL AND "pods"."status" <> 'TERMINATED';