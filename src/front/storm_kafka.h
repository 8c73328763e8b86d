/* Storm's KafkaSpout of a Flux file, as gale.spout.Kafka.
 *
 * What:    a spout of the class org.apache.storm.kafka.spout.KafkaSpout refers to a KafkaSpoutConfig, and that to its builder: what these say become
 *          properties, each with the place that it has in the file, and their components leave. What has no counterpart is told of where it
 *          stands: as an error where the topology would mean something else, else as a warning.
 */
#ifndef GX_FRONT_STORM_KAFKA_H
#define GX_FRONT_STORM_KAFKA_H

#include "front/yaml.h"

#include <gale/log.h>

/* Maps all of them. What is wrong with them, with its place; GALE_NO_MEMORY. */
int gx_storm_kafka_map(gx_yaml_doc *doc, const gale_logger *logger, gale_error *error);

#endif
